use plan_runtime::Shape;

#[derive(Shape)]
union Either {
    small: u8,
    large: u64,
}

fn main() {
    let _ = Either::SHAPE;
}
