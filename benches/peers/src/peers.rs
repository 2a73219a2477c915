//! Each library as its documentation shows it, without spawned tasks where it leaves the choice.
//!
//! | | cannot express |
//! |---|---|
//! | `async_dag`, `operese-dagx` | a join of more than a few: they get the fan without its join |
//! | `swiftide-tasks`, `graph-flow`, `sayiir-runtime` | a graph: a node has one predecessor, or is the join of a fan-out |

use crate::cases::shapes::Needs;
use crate::{Once, timed};
use async_trait::async_trait;
use std::sync::Arc;

type Case = (&'static str, &'static str, Once<'static>);

pub fn of(name: &str, needs: &Needs) -> Vec<Case> {
    let mut peers: Vec<Case> = vec![
        async_dag(needs.clone()),
        dagx(needs.clone()),
        dagrs(needs.clone()),
    ];
    match name {
        "chain" => {
            let steps = needs.len();
            peers.extend([
                swiftide_chain(steps),
                graph_flow_chain(steps),
                sayiir_chain(steps),
            ]);
        }
        "fan" => peers.push(swiftide_fan(needs.len())),
        _ => {}
    }
    peers
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn async_dag(needs: Needs) -> Case {
    use async_dag::Graph;
    let run = move || {
        let mut graph = Graph::new();
        let mut nodes = Vec::new();
        for needs in &needs {
            let node = match needs.len() {
                0 => graph.add_task(|| async { 1_u64 }),
                1 => graph.add_task(|a: u64| async move { a }),
                2 => graph.add_task(|a: u64, b: u64| async move { a & b }),
                3 => graph.add_task(|a: u64, b: u64, c: u64| async move { a & b & c }),
                _ => continue,
            };
            for (place, need) in needs.iter().enumerate() {
                graph
                    .update_dependency(nodes[*need], node, place as _)
                    .unwrap();
            }
            nodes.push(node);
        }
        let took = timed(|| crate::block_on(graph.run()));
        assert_eq!(graph.get_value::<u64>(*nodes.last().unwrap()), Some(1));
        took
    };
    ("`async_dag` 0.1.2", "values", Box::new(run))
}

/// A chain of tasks that pass on a value of three texts.
pub fn chain_of_values(steps: usize) -> Once<'static> {
    use crate::handing::Mail;
    use async_dag::Graph;
    Box::new(move || {
        let mut graph = Graph::new();
        let mut last = None;
        for _ in 0..steps {
            let node = match last {
                None => graph.add_task(|| async { Mail::new() }),
                Some(_) => graph.add_task(|mail: Mail| async move { mail }),
            };
            if let Some(last) = last {
                graph.update_dependency(last, node, 0).unwrap();
            }
            last = Some(node);
        }
        let took = timed(|| crate::block_on(graph.run()));
        let given = graph.get_value::<Mail>(last.unwrap()).unwrap();
        assert_eq!(given.from, "sarah@example.org");
        took
    })
}

fn dagx(needs: Needs) -> Case {
    use operese_dagx::{DagRunner, TaskHandle, task};

    struct Zero;
    #[task]
    impl Zero {
        async fn run(&self) -> u64 {
            1
        }
    }
    struct One;
    #[task]
    impl One {
        async fn run(&self, a: &u64) -> u64 {
            *a
        }
    }
    struct Two;
    #[task]
    impl Two {
        async fn run(&self, a: &u64, b: &u64) -> u64 {
            a & b
        }
    }
    struct Three;
    #[task]
    impl Three {
        async fn run(&self, a: &u64, b: &u64, c: &u64) -> u64 {
            a & b & c
        }
    }
    let run = move || {
        let mut dag = DagRunner::new();
        let mut handles: Vec<TaskHandle<u64>> = Vec::new();
        for needs in &needs {
            let handle = match **needs {
                [] => dag.add_task(Zero),
                [a] => dag.add_task(One).depends_on(&handles[a]),
                [a, b] => dag.add_task(Two).depends_on((&handles[a], &handles[b])),
                [a, b, c] => {
                    dag.add_task(Three)
                        .depends_on((&handles[a], &handles[b], &handles[c]))
                }
                _ => continue,
            };
            handles.push(handle);
        }
        timed(|| crate::block_on(dag.run(|future| future)).unwrap())
    };
    ("`operese-dagx` 0.4.1", "values", Box::new(run))
}

fn dagrs(needs: Needs) -> Case {
    use dagrs::{
        Action, Content, DefaultNode, EnvVar, Graph, InChannels, Node, NodeTable, OutChannels,
        Output,
    };

    struct All;
    #[async_trait]
    impl Action for All {
        async fn run(
            &self,
            input: &mut InChannels,
            output: &mut OutChannels,
            _: Arc<EnvVar>,
        ) -> Output {
            let all: Vec<u64> = input
                .map(|content| content.map_or(1, |content| *content.into_inner::<u64>().unwrap()))
                .await;
            let all = all.into_iter().fold(1_u64, |a, b| a & b);
            output.broadcast(Content::new(all)).await;
            Output::empty()
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let run = move || {
        let mut table = NodeTable::default();
        let mut graph = Graph::new();
        let mut ids = Vec::new();
        let mut readers = vec![Vec::new(); needs.len()];
        for (step, needs) in needs.iter().enumerate() {
            let node = DefaultNode::with_action(format!("s{step}"), All, &mut table);
            ids.push(node.id());
            graph.add_node(node).unwrap();
            for need in needs {
                readers[*need].push(ids[step]);
            }
        }
        for (step, readers) in readers
            .into_iter()
            .enumerate()
            .filter(|(_, readers)| !readers.is_empty())
        {
            graph.add_edge(ids[step], readers).unwrap();
        }
        graph.set_env(EnvVar::new(table));
        timed(|| runtime.block_on(graph.async_start()).unwrap())
    };
    ("`dagrs` 0.9.0", "values", Box::new(run))
}

fn swiftide_chain(steps: usize) -> Case {
    use swiftide_tasks::{NodeError, Task};
    let runtime = runtime();
    let run = move || {
        let mut task = Task::<u64, u64>::new();
        let nodes: Vec<_> = (0..steps)
            .map(|_| task.register_node_fn(|input: &u64| -> Result<u64, NodeError> { Ok(*input) }))
            .collect();
        task.starts_with(nodes[0]);
        for pair in nodes.windows(2) {
            let next = pair[1];
            task.register_transition(pair[0], move |value| next.transitions_with(value))
                .unwrap();
        }
        task.register_transition(nodes[steps - 1], task.transitions_to_finish())
            .unwrap();
        timed(|| runtime.block_on(task.run(1_u64)).unwrap())
    };
    ("`swiftide-tasks` 0.33.0", "values", Box::new(run))
}

fn swiftide_fan(steps: usize) -> Case {
    use swiftide_tasks::{JoinInput, NodeError, Task, Transition};
    let runtime = runtime();
    let run = move || {
        let mut task = Task::<u64, u64>::new();
        let start = task.register_node_fn(|input: &u64| -> Result<u64, NodeError> { Ok(*input) });
        let join = task.register_node_fn(|all: &JoinInput<u64>| -> Result<u64, NodeError> {
            Ok(all.iter().fold(1, |a, b| a & b))
        });
        let nodes: Vec<_> = (2..steps)
            .map(|_| task.register_node_fn(|input: &u64| -> Result<u64, NodeError> { Ok(*input) }))
            .collect();
        task.starts_with(start);
        let branches = nodes.clone();
        task.register_transition(start, move |value: u64| {
            let first = Transition::fan_out(&branches[0], value);
            branches[1..]
                .iter()
                .fold(first, |fan, node| fan.and(node, value))
                .join_with(join.join())
        })
        .unwrap();
        for node in nodes {
            task.register_transition(node, join.join()).unwrap();
        }
        task.register_transition(join, task.transitions_to_finish())
            .unwrap();
        timed(|| runtime.block_on(task.run(1_u64)).unwrap())
    };
    ("`swiftide-tasks` 0.33.0", "values", Box::new(run))
}

fn graph_flow_chain(steps: usize) -> Case {
    use graph_flow::{
        Context, FlowRunner, GraphBuilder, InMemorySessionStorage, NextAction, Session,
        SessionStorage, Task, TaskResult,
    };

    struct One {
        id: String,
        reads: String,
    }
    #[async_trait]
    impl Task for One {
        fn id(&self) -> &str {
            &self.id
        }

        async fn run(&self, context: Context) -> graph_flow::Result<TaskResult> {
            let read: u64 = context.get(&self.reads).unwrap_or(1);
            context.set(self.id.clone(), read)?;
            Ok(TaskResult::new(None, NextAction::ContinueAndExecute))
        }
    }
    let mut builder = GraphBuilder::new("chain");
    for step in 0..steps {
        builder = builder.add_task(Arc::new(One {
            id: format!("s{step}"),
            reads: format!("s{}", step.wrapping_sub(1)),
        }));
    }
    for step in 1..steps {
        builder = builder.add_edge(format!("s{}", step - 1), format!("s{step}"));
    }
    let graph = Arc::new(builder.set_start_task("s0").build().unwrap());
    let runtime = runtime();
    let run = move || {
        let storage = Arc::new(InMemorySessionStorage::new());
        let session = Session::new_from_task("s".to_owned(), "s0");
        runtime.block_on(storage.save(session)).unwrap();
        let runner = FlowRunner::new(graph.clone(), storage.clone());
        let took = timed(|| runtime.block_on(runner.run("s")).unwrap());
        let session = runtime.block_on(storage.get("s")).unwrap().unwrap();
        let last = format!("s{}", steps - 1);
        assert_eq!(session.context.get::<u64>(&last), Some(1));
        took
    };
    ("`graph-flow` 0.8.1", "JSON", Box::new(run))
}

fn sayiir_chain(steps: usize) -> Case {
    use sayiir_runtime::prelude::*;
    use sayiir_runtime::{InProcessRunner, WorkflowRunner};

    let context = WorkflowContext::new("chain", Arc::new(JsonCodec), Arc::new(()));
    let mut builder = WorkflowBuilder::new(context).then("s0", |a: u64| async move { Ok(a) });
    for step in 1..steps {
        builder = builder.then(&format!("s{step}"), |a: u64| async move { Ok(a) });
    }
    let workflow = builder.build().unwrap();
    let runtime = runtime();
    let run = move || {
        let mut status = None;
        let took = timed(|| {
            status = Some(runtime.block_on(InProcessRunner.run(&workflow, 1_u64)));
        });
        assert!(matches!(status, Some(Ok(WorkflowStatus::Completed))));
        took
    };
    ("`sayiir-runtime` 1.0.0", "JSON", Box::new(run))
}
