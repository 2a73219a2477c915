//! Plan JSON as a document: what a plan serializes to, if it can be read back.

use crate::Plan;
use crate::dynamic::{Dialect, Unsupported, UnsupportedPart};

pub(super) fn write(plan: &Plan) -> Result<String, Unsupported> {
    let written = serde_json::to_string_pretty(plan).and_then(|text| {
        serde_json::from_str::<Plan>(&text)?;
        Ok(text)
    });
    written.map_err(|error| {
        let part = UnsupportedPart::new("the plan", error.to_string());
        Unsupported::new(Dialect::PlanJson.rules().document(), vec![part])
    })
}
