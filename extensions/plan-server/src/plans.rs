//! The plans of runs. The server parses the text of a plan once, and not for each question and each state of a run.

use crate::limits;
use plan_runtime::Plan;
use plan_runtime::journal::{Journal, JournalError, Sqlite, spi::RunInfo};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct Plans {
    db: Sqlite,
    parsed: Mutex<Parsed>,
}

/// Parsed plans by their text, with the bytes of all texts.
#[derive(Default)]
struct Parsed {
    plans: HashMap<String, Arc<Plan>>,
    bytes: usize,
}

impl Plans {
    pub(crate) fn new(db: &Sqlite) -> Self {
        Self {
            db: db.clone(),
            parsed: Mutex::default(),
        }
    }

    /// Returns the plan JSON and the inputs of a run, or `None` without such a run.
    pub(crate) async fn info(&self, run: &str) -> Result<Option<RunInfo>, JournalError> {
        Ok(self.db.look(run).await?.and_then(|run| run.info))
    }

    /// Parses the plan JSON of a run.
    pub(crate) fn parse(&self, text: String) -> serde_json::Result<Arc<Plan>> {
        let parsed = || self.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = parsed().plans.get(&text) {
            return Ok(Arc::clone(plan));
        }
        let plan: Arc<Plan> = Arc::new(serde_json::from_str(&text)?);
        let mut parsed = parsed();
        if parsed.bytes + text.len() > limits::PLANS {
            *parsed = Parsed::default();
        }
        parsed.bytes += text.len();
        parsed.plans.insert(text, Arc::clone(&plan));
        Ok(plan)
    }

    /// Returns the plan of a run, or `None` if the plan cannot be read.
    pub(crate) async fn of_run(&self, run: &str) -> Option<Arc<Plan>> {
        let info = self.info(run).await.ok().flatten();
        self.parse(info?.document).ok()
    }
}

#[cfg(test)]
mod tests {
    use crate::limits;
    use crate::state::tests::Fixture;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_text_is_parsed_once() {
        let fixture = Fixture::new("plans").await;
        let plans = &fixture.state.plans;
        let text = |id: &str| {
            let id = format!("{id:x<60000}");
            format!(r#"{{"name": "n", "steps": [{{"id": "{id}", "await": "String"}}]}}"#)
        };
        let first = plans.parse(text("a")).unwrap();
        assert!(Arc::ptr_eq(&first, &plans.parse(text("a")).unwrap()));
        // The memory for plans is limited.
        for number in 0..limits::PLANS / 60_000 {
            plans.parse(text(&format!("b{number}"))).unwrap();
        }
        assert!(!Arc::ptr_eq(&first, &plans.parse(text("a")).unwrap()));
        assert!(plans.parse("{}".to_owned()).is_err());
    }
}
