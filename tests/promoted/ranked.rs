plan! {
    pub Ranked() -> Option<String> {
        #[catch]
        step sorted = Rank {
            free: "very-high",
            maybe: serde_json::from_value(json!("low"))?,
            name: serde_json::from_value(json!("a"))?,
            others: [
                serde_json::from_value(json!("low"))?,
                serde_json::from_value(json!("very-high"))?,
            ],
            priority: serde_json::from_value(json!("very-high"))?,
        };

        step said = if let Ok(o) = sorted {
            Note { text: o, .. }
        } else if let Err(e) = sorted {
            Note { text: e.message, .. }
        };

        said
    }
}
