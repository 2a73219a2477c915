//! Inputs, types and nested values.

plan! {
    /// Sorts e-mails.
    #[derive(Clone)]
    pub Sort(
        /// From whom.
        person: Person,
        #[serde(default)]
        tastes: Vec<Taste>,
        by_name: BTreeMap<String, u32>,
        mode: Option<Mode>,
    ) -> Result<Vec<String>, String> {
        step set = SetMode { mode: mode.unwrap_or(Mode::Slow) };
        step first: Taste = Taste { size: by_name["sam"], name: Some(person.name.clone()) };
        step pair: (u32, Vec<Option<String>>) = (first.size + 1, tastes.iter().map(|taste| taste.name.clone()).collect());
        step fixed: [u64; 3] = [1, u64::from(pair.0), 3];
        step liked = for taste in tastes { Prefer { taste } };
        step waited = Wait { millis: fixed[1] };
        step _named = if let Some(name) = &pair.1[0] { Count { text: name, from: waited } };
        step entry = Log { entry: json!([set, liked[0].name, { "by": by_name }, null]) };
        #[after(entry)]
        step archived = Archive { ids: [person.email, format!("{waited:?}")] };
        step last: Result<Vec<String>, String> = Ok(vec![person.email.clone(), archived.to_string()]);
        last
    }
}
