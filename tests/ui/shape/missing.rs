use plan_runtime::Shape;

struct Person {
    email: String,
}

#[derive(Shape)]
struct Company {
    name: String,
}

fn refers_into<T: Shape>() {}

fn main() {
    refers_into::<Company>();
    refers_into::<Person>();
    refers_into::<Box<Person>>();
    refers_into::<Vec<Person>>();
}
