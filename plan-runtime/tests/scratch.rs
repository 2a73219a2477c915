//! Scratch.
use bytes::Bytes;
use plan_runtime::{Result, plan, tool};
use std::time::Instant;
use std::sync::Mutex;
struct App { b: Bytes, v: Mutex<Vec<u8>> }
#[tool]
async fn make(app: &App) -> Result<Bytes> { Ok(app.b.clone()) }
#[tool]
async fn pass(b: Bytes) -> Result<Bytes> { Ok(b) }
#[tool]
async fn make_vec(app: &App) -> Result<Vec<u8>> { Ok(std::mem::take(&mut *app.v.lock().unwrap())) }
#[tool]
async fn pass_vec(b: Vec<u8>) -> Result<Vec<u8>> { Ok(b) }
#[test]
fn big() {
    plan! { Chain() -> Bytes {
        step a = Make { };
        step b = Pass { b: a };
        step c = Pass { b };
        step _l: usize = a.len();
        step d = Pass { b: c };
        d
    } }
    plan! { ChainVec() -> Vec<u8> {
        step a = MakeVec { };
        step b = PassVec { b: a };
        step c = PassVec { b };
        c
    } }
    for _ in 0..3 {
    let app = App { b: Bytes::from(vec![1u8; 50_000_000]), v: Mutex::new(vec![1u8; 50_000_000]) };
    let t = Instant::now();
    let out = smol::block_on(Chain { }.run(&app)).map(|b| b.len());
    println!("{:?} {:?}", out, t.elapsed());
    let t = Instant::now();
    let out = smol::block_on(ChainVec { }.run(&app)).unwrap();
    println!("vec {} {:?}", out.len(), t.elapsed());
    }
}
