use plan_runtime::tool;

#[tool(output = u8)]
struct Fetch {
    n: u8,
}

#[tool]
enum Choice {
    One,
}

fn main() {}
