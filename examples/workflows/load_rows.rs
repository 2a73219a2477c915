//! Rows of a file are converted and loaded. Rows that cannot be converted are set aside with the reason, and all other rows are loaded.

mod support;

use plan_runtime::{Error, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use support::{TokioTimer, World, show};

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Sale {
    item: String,
    cents: u64,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Shape)]
struct Summary {
    loaded: usize,
    aside: usize,
}

/// Reads the rows of a file.
#[tool]
async fn read_rows(world: &World, file: String) -> Result<Vec<String>> {
    world.call(format!("read {file}")).await?;
    let rows = ["lamp,1500", "chair,many", "table,9900", "sofa", "bed,20000"];
    Ok(rows.map(Into::into).into())
}

/// Converts a row to a sale, with the name of the item in the catalog.
#[tool]
async fn convert(world: &World, row: String) -> Result<Sale> {
    let Some((item, cents)) = row.split_once(',') else {
        return Err(Error::permanent("a column is missing").with_code("COLUMNS"));
    };
    world.call(format!("look up {item}")).await?;
    let cents = cents.parse().map_err(Error::permanent)?;
    let item = item.into();
    Ok(Sale { item, cents })
}

/// Puts a row aside, so that a person can inspect the row.
#[tool]
async fn put_aside(world: &World, row: String, why: String) -> Result<()> {
    world.call(format!("put aside {row}: {why}")).await
}

/// Loads all sales, or none.
#[tool]
async fn load(world: &World, sales: Vec<Sale>) -> Result<usize> {
    let items: Vec<&str> = sales.iter().map(|sale| &*sale.item).collect();
    world.call(format!("load {}", items.join(", "))).await?;
    Ok(sales.len())
}

plan! {
    /// Loads the good rows of a file, and puts the others aside.
    LoadRows(file: String) -> Summary {
        step rows = ReadRows { file };
        #[concurrency(2)]
        step converted = for row in rows {
            #[catch] #[retry(3)]
            step sale = Convert { row };
            #[retry(3)]
            step aside = if let Err(why) = &sale { PutAside { row, why: why.message } };
            sale
        };
        step sales: Vec<Sale> = converted.iter().flatten().cloned().collect();
        #[retry(3)]
        step loaded = Load { sales };
        Summary { loaded, aside: rows.len() - loaded }
    }
}

mod by_hand {
    use super::support::by_hand::attempts;
    use super::*;
    use backon::Retryable;
    use futures_util::future::ready;
    use futures_util::{StreamExt, stream};
    use std::cell::Cell;

    pub(crate) async fn load_rows(world: &World, file: String) -> Result<Summary> {
        let rows = read_rows(world, file).await?;
        let number = rows.len();
        let failed = Cell::new(false);
        let rows = stream::iter(rows.into_iter().enumerate());
        let converted = rows
            // After a failure, no further row starts, and the started rows run to their end.
            .take_while(|_| ready(!failed.get()))
            .map(async |(index, row)| {
                let sale = one(world, row).await;
                failed.set(failed.get() || sale.is_err());
                (index, sale)
            })
            .buffer_unordered(2);
        let mut converted: Vec<_> = converted.collect().await;
        converted.sort_by_key(|(index, _)| *index);
        let sales: Result<Vec<Option<Sale>>> =
            converted.into_iter().map(|(_, sale)| sale).collect();
        let sales: Vec<Sale> = sales?.into_iter().flatten().collect();
        let loaded = (|| load(world, sales.clone()))
            .retry(attempts(3))
            .when(Error::is_transient)
            .await?;
        Ok(Summary {
            loaded,
            aside: number - loaded,
        })
    }

    async fn one(world: &World, row: String) -> Result<Option<Sale>> {
        let sale = (|| convert(world, row.clone()))
            .retry(attempts(3))
            .when(Error::is_transient)
            .await;
        match sale {
            Ok(sale) => Ok(Some(sale)),
            Err(why) => {
                (|| put_aside(world, row.clone(), why.to_string()))
                    .retry(attempts(3))
                    .when(Error::is_transient)
                    .await?;
                Ok(None)
            }
        }
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", LoadRows::PLAN);
    let scenarios = [
        ("two bad rows", World::default()),
        (
            "no database",
            World::default().breaks("load", "no database"),
        ),
    ];
    for (title, world) in scenarios {
        let rows = LoadRows {
            file: "sales.csv".into(),
        };
        let run = rows.run(&world).timer(TokioTimer).with_report().await;
        let by_hand = by_hand::load_rows(&world, "sales.csv".into()).await;
        show(title, run, by_hand);
    }
}

#[cfg(test)]
mod tests {
    use super::support::{Done, both};
    use super::*;

    async fn outcome(world: impl Fn() -> World) -> Done<Summary> {
        both(
            world,
            async |world| {
                let rows = LoadRows {
                    file: "sales.csv".into(),
                };
                Ok(rows.run(world).timer(TokioTimer).await?)
            },
            async |world| by_hand::load_rows(world, "sales.csv".into()).await,
        )
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn good_rows_are_loaded_and_bad_ones_put_aside() {
        let done = outcome(World::default).await;
        assert_eq!(
            done.output,
            Ok(Summary {
                loaded: 3,
                aside: 2
            })
        );
        let aside = done
            .calls
            .iter()
            .filter(|call| call.starts_with("put aside"));
        assert_eq!(
            aside.collect::<Vec<_>>(),
            [
                "put aside chair,many: invalid digit found in string",
                "put aside sofa: a column is missing"
            ]
        );
        assert_eq!(done.calls.last().unwrap(), "load lamp, table, bed");
        assert_eq!(done.most_open, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn services_that_are_busy_are_asked_again() {
        let done = outcome(|| World::default().busy("look up table", 2)).await;
        assert_eq!(done.output.unwrap().loaded, 3);
        let done = outcome(|| World::default().busy("look up table", 3)).await;
        assert_eq!(done.output.unwrap().loaded, 2);
        let done = outcome(|| World::default().busy("load", 3)).await;
        assert_eq!(done.output, Err("busy".into()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_row_that_cannot_be_put_aside_fails_the_run() {
        let world = || {
            World::default()
                .breaks("put aside chair", "disk full")
                .takes("look up table", 5)
        };
        let done = outcome(world).await;
        assert_eq!(done.output, Err("disk full".into()));
        // The row in conversion runs to its end, and no other row starts.
        assert_eq!(done.calls.len(), 5);
        assert_eq!(done.took.as_secs(), 1 + 1 + 5);
    }
}
