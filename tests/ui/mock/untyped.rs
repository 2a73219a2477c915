use plan_runtime::run::Mock;

fn main() {
    let _ = Mock::new().on(|say| Ok(say.text));
}
