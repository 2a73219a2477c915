use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
#[derive(Serialize, Deserialize, Shape, Debug)]
pub struct Item {
    pub id: u32,
    pub name: String,
    pub tags: Vec<String>,
}
#[derive(Serialize, Deserialize, Shape, Debug)]
pub struct Items {
    pub items: Vec<Item>,
    pub next: Option<String>,
    pub map: std::collections::BTreeMap<String, u32>,
}
#[tool]
async fn list(n: u32) -> Result<Items> {
    Ok(Items {
        items: (0..n)
            .map(|id| Item {
                id,
                name: format!("n{id}"),
                tags: vec!["a".into(), "b".into()],
            })
            .collect(),
        next: Some("nx".into()),
        map: [("k".to_string(), 5)].into(),
    })
}
#[tool]
async fn show(text: String, n: u32) -> Result<String> {
    if n == 99 {
        return Err(plan_runtime::Error::msg("boom"));
    }
    Ok(format!("{text}/{n}"))
}
plan! {
    Flow(big: bool, count: u32) -> Vec<String> {
        step all = List { n: count };
        step a = if big { Show { text: "big", n: 1 } };
        step b = if count > 2 { Show { text: all.items[0].name, n: 1 } } else if let Some(x) = &all.next { Show { text: x, n: x.len() as u32 } } else { Show { text: "none", n: 0 } };
        #[concurrency(2)]
        #[retry(3, backoff = "1ms")]
        step c = for item in all.items { Show { text: format!("{}-{}", item.name, item.tags.len()), n: item.id } };
        step d = for (k, v) in all.map { Show { text: k, n: v } };
        step e = for item in all.items.iter().skip(1) { for tag in item.tags { Show { text: format!("{tag}{}", item.id), n: item.id } } };
        step f = for item in all.items { if item.id > 0 { Show { text: item.name, n: *&item.id + 1 } } };
        #[optional]
        step g = Show { text: "x", n: 99 };
        #[fallback(format!("fell back {}", count))]
        step h = Show { text: "x", n: 99 };
        step sum: Vec<String> = {
            let mut v = vec![format!("{a:?}"), b.clone(), format!("{e:?} {f:?} {g:?} {h}")];
            v.extend(c.iter().cloned());
            v.extend(d.iter().cloned());
            v
        };
        sum
    }
}
fn main() {
    println!("{}", Flow::PLAN);
    println!(
        "{:#?}",
        smol::block_on(
            Flow {
                big: false,
                count: 3
            }
            .run(&())
        )
    );
}
