use plan_runtime::run::Mock;

fn main() {
    let _ = Mock::new().on(|_| Ok("a".to_owned()));
}
