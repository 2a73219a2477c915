#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(text: String) -> String {
        step said = Say { text };
        step name = Log { entry: json!({ key: said }) };
        step number = Log { entry: json!({ 5: said }) };
        step repeated = Log { entry: json!({ "a": said, "b": 1, "a": said }) };
        step nested = Log { entry: json!({ "a": { "b": [{ c: 1 }] } }) };
        step no_value = Log { entry: json!({ "a": }) };
        step no_colon = Log { entry: json!({ "a" said }) };
        step equals = Log { entry: json!({ "a" = said }) };
        step no_comma = Log { entry: json!({ "a": said "b": said }) };
        step empty = Log { entry: json!() };
        step two = Log { entry: json!({}, {}) };
        step missing_format = Say { text: format!() };
        step too_few = Say { text: format!("{} {}", said) };
        step too_many = Say { text: format!("{}", said, said) };
        step brace = Say { text: format!("{", said) };
        step spec = Say { text: format!("{:?!}", said) };
        said
    }
}

fn main() {}
