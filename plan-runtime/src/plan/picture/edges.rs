//! The edges of a diagram.

use super::build::Builder;
use super::drawing::{Drawing, ReadingNode, variable};
use super::model::{Edge, EdgeKind, End};
use super::path;
use super::text::EXPRESSION;
use crate::plan::{Source, Template};
use crate::print::{Line, short_to};

impl<'p> Builder<'p> {
    pub(super) fn read(&mut self, drawing: &Drawing<'p>, steps: &[End], reader: &ReadingNode<'p>) {
        let mut found = Vec::new();
        reader.template.each(&mut |template| match template {
            Template::Reference(reference) => {
                // A pattern may bind several variables, so their names are more precise than the pattern.
                let path = match reference.source {
                    Source::Local(local) => {
                        let local = reader.locals.get(local);
                        let bound = local.and_then(|it| drawing.patterns.get(it.pattern));
                        variable(reference, bound)
                    }
                    source => path(reference, drawing.plan.name_of(source)),
                };
                found.push((reference.source, path));
            }
            Template::Computed(computed) => {
                let reads = computed.reads().iter();
                found.extend(reads.map(|source| (*source, String::new())));
            }
            _ => {}
        });
        for (source, path) in found {
            let from = match source {
                Source::Step(step) => steps.get(step).copied(),
                Source::Input(input) => drawing.inputs.get(input).copied().map(End::Node),
                Source::Local(local) => reader.locals.get(local).map(|it| End::Node(it.node)),
            };
            let Some(from) = from else { continue };
            // The conditions of a branch are one node, and use the variables of the earlier ones.
            if from == reader.to && matches!(source, Source::Local(_)) {
                continue;
            }
            let line = if path.is_empty() {
                reader.prefix.trim_end().to_owned()
            } else {
                format!(
                    "{}{}",
                    reader.prefix,
                    short_to(&Line(&path).to_string(), EXPRESSION)
                )
            };
            // The loop's round already has an edge, so a loop's local value needs no further edge.
            let flow = self.known.contains_key(&(from, reader.to, EdgeKind::Flow));
            let kind = if flow && matches!(source, Source::Local(_)) {
                EdgeKind::Flow
            } else {
                EdgeKind::Data
            };
            self.connect(from, reader.to, kind, line);
        }
    }

    /// Adds an edge, or adds a line to the existing edge.
    pub(super) fn connect(&mut self, from: End, to: End, kind: EdgeKind, line: String) {
        let (from, to) = self.content.apart(from, to);
        let edges = &mut self.content.edges;
        let place = *self.known.entry((from, to, kind)).or_insert(edges.len());
        if place == edges.len() {
            let lines = Vec::new();
            edges.push(Edge {
                from,
                to,
                kind,
                lines,
            });
        }
        let lines = &mut edges[place].lines;
        if !line.is_empty() && !lines.contains(&line) {
            lines.push(line);
        }
    }
}
