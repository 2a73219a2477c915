//! `{ steps tail }`: a plan inside a step, whose inputs are the names from outside that it mentions.
//!
//! rustc checks a block where it checks the step around it, with the author's names. Only the data and the code that runs know of the inputs.

use super::builder::{BodyData, Builder, TemplateData};
use super::scope::Level;
use super::{step, types};
use crate::ast::{Block, BlockTail, Capture, Captured, Local, Loop, Step};
use crate::docs::text_of;
use crate::names::{Reader, Source};
use plan_graph::notation::{
    AbsenceData, BlockData, Ended, Named, ReferenceData, SegmentData, SourceData, StepData,
};
use proc_macro2::{Span, TokenStream};
use quote::quote;

/// Lowers a block. A value at its end has the type `ty`, which is declared at that place.
pub(super) fn lower(
    block: &Block,
    ty: Option<&(TokenStream, Span)>,
    builder: &mut Builder<'_>,
) -> BodyData {
    let mut data = enter(block, None, builder);
    if let (BlockTail::Value(value), Some(ty)) = (&block.tail, ty) {
        data.value = builder.value_of(value, ty);
        builder.inner_roots.clear();
    }
    builder.levels.pop();
    BodyData::Block(data)
}

/// Lowers a loop.
pub(super) fn lower_loop(repeat: &Loop, builder: &mut Builder<'_>) -> BodyData {
    // The type of a round has a name, and so has that of `last`.
    let ty = types::type_of_round(repeat).unwrap_or_else(|| quote!(__plan::Unknown));
    let last = repeat.last.as_ref().map(|name| {
        let place = builder.fresh_at("f", name.span());
        let option = quote!(__plan::root::<::core::option::Option<#ty>>());
        builder.bind_name(&place, &option);
        builder.enter_one(place, name);
        Captured::Local(Local {
            frame: builder.frames.len() - 1,
            part: None,
        })
    });
    let mut captures = repeat.round.captures.iter();
    let has_last = captures.any(|capture| Some(capture.of) == last);
    let round = enter(&repeat.round, last, builder);
    if let Some(level) = builder.levels.last_mut() {
        level.names = repeat.scope;
    }
    let again = builder.holds(&repeat.again);
    builder.inner_roots.clear();
    builder.levels.pop();
    if last.is_some() {
        builder.leave();
    }
    BodyData::Loop(has_last, round, again)
}

/// Lowers a block, and enters its level. `last` is an input that is null at first.
fn enter(block: &Block, last: Option<Captured>, builder: &mut Builder<'_>) -> BlockData<String> {
    let inputs = block.captures.iter().map(|capture| {
        let input = if Some(capture.of) == last {
            TemplateData::NULL
        } else {
            input(capture, builder)
        };
        (text_of(&capture.name), input)
    });
    let inputs = inputs.collect();
    let level = Level::of(block, builder.frames.len());
    builder.levels.push(level);
    let steps = block.steps.iter().map(|step| {
        let data = inner_step(step, builder);
        (text_of(&step.name), data)
    });
    let steps = Named(steps.collect());
    // The code after the steps sees them as the work does.
    builder.set_reader(Reader::Work);
    let value = block.value().map_or(TemplateData::NULL, |step| {
        let place = builder.place(Source::Step(step.number));
        whole(place, None, text_of(&step.name))
    });
    BlockData {
        inputs,
        steps,
        value,
    }
}

/// Returns the value of a block's input.
fn input(capture: &Capture, builder: &Builder<'_>) -> TemplateData {
    let (place, part) = match capture.of {
        Captured::Source(source) => (builder.place(source), None),
        Captured::Local(local) => builder.part_of_local(local),
    };
    whole(place, part, text_of(&capture.name))
}

/// Returns a reference to a whole value, or to a part of a local value.
fn whole(source: SourceData, part: Option<usize>, written: String) -> TemplateData {
    let part = part.map(|part| SegmentData::Index(part, AbsenceData::Error));
    TemplateData::Reference(ReferenceData {
        source,
        written,
        path: Ended(part.into_iter().collect()),
    })
}

fn inner_step(step: &Step, builder: &mut Builder<'_>) -> StepData<String> {
    let is_json = builder.is_json.take();
    builder.inner_roots.clear();
    let data = step::lower(step, builder);
    builder.inner_roots.clear();
    builder.is_json = is_json;
    data
}
