#![forbid(unsafe_code)]
#![deny(
    warnings,
    future_incompatible,
    rust_2018_idioms,
    rust_2021_compatibility,
    rust_2024_compatibility,
    unused,
    elided_lifetimes_in_paths,
    let_underscore_drop,
    missing_debug_implementations,
    missing_docs,
    non_ascii_idents,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unreachable_pub,
    unused_crate_dependencies,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences,
    clippy::pedantic,
    clippy::nursery
)]
//! Public plans of a crate that calls `plan-runtime` by another name.

use flows::{plan, tool, Result, Shape, Tool};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use smol as _;

pub mod issues;

/// The fields of a color, for all crates that use this one.
#[derive(Shape)]
#[shape(crate = flows, remote = "issues::Color")]
struct ColorShape(u8, u8, u8);

/// A point.
#[derive(Serialize, Deserialize, Shape, Debug, Clone, PartialEq, Eq)]
#[shape(crate = flows)]
pub struct Point {
    /// To the right.
    pub x: u64,
    /// Up.
    pub y: Option<u64>,
}

/// Moves a point.
///
/// # Errors
/// Never.
#[tool(crate = flows)]
#[derive(Debug)]
pub async fn shift(
    /// What to move.
    point: Point,
    /// How far.
    by: u64,
) -> Result<Point> {
    Ok(Point {
        x: point.x + by,
        y: point.y,
    })
}

/// Forgets a point.
#[derive(Serialize, Deserialize, Shape, Tool, Debug)]
#[shape(crate = flows)]
#[tool(crate = flows, output = ())]
pub struct Forget {
    /// What to forget.
    pub point: Point,
}

impl flows::Call<()> for Forget {
    async fn call(self, (): &()) -> Result<()> {
        Ok(())
    }
}

plan! {
    #![plan(crate = flows)]
    /// Moves a point twice, and forgets it.
    #[derive(Debug, Clone)]
    pub MoveTwice(
        /// What to move.
        point: Point,
        /// How far.
        by: u64,
    ) -> Point {
        step once = Shift { point, by };
        step far: u64 = once.x + by;
        step twice = Shift { point: Point { x: once.x, y: once.y? }, by: far };
        #[after(twice)]
        step forgotten = Forget { point: once };
        twice
    }
}

plan! {
    #![plan(crate = crate::again::flows)]
    /// Moves nothing.
    #[derive(Debug)]
    pub Stay(#[allow(missing_docs)] point: Point) -> String {
        step same = MoveTwice { point, by: 0 };
        format!("{} {:?}", same.x, same.y.unwrap_or_default())
    }
}

/// Plans that do not say what the runtime crate is called.
pub mod found {
    use flows::{plan, tool, Result, Shape, Tool};
    use serde::{Deserialize, Serialize};

    /// A line.
    #[derive(Serialize, Deserialize, Shape, Debug)]
    pub struct Line {
        /// Its length.
        pub length: u64,
    }

    /// Draws a line.
    ///
    /// # Errors
    /// Never.
    #[tool]
    #[derive(Debug)]
    pub async fn draw(
        /// What to draw.
        line: Line,
    ) -> Result<Line> {
        Ok(line)
    }

    /// Forgets a line.
    #[derive(Serialize, Deserialize, Shape, Tool, Debug)]
    #[tool(output = ())]
    pub struct Erase {
        /// What to forget.
        pub line: Line,
    }

    plan! {
        /// Draws a line.
        #[derive(Debug)]
        pub DrawOne(#[allow(missing_docs)] length: u64) -> u64 {
            step drawn = Draw { line: Line { length } };
            drawn.length
        }
    }
}

/// Tools that give types of a crate that knows nothing of plans. That one of them has a secret, only the crates of plans say.
pub mod sessions {
    use super::issues::{Page, Session, User};
    use flows::{tool, Result, Shape};
    use serde::{Deserialize, Serialize};

    /// A session with the words `hunter2`.
    fn session() -> Session {
        let user = User {
            login: "sarah".to_owned(),
            email: None,
        };
        Session {
            user,
            token: "hunter2".to_owned(),
        }
    }

    /// Opens a session.
    ///
    /// # Errors
    /// Never.
    #[tool]
    #[derive(Debug)]
    pub async fn open_session() -> Result<Session> {
        Ok(session())
    }

    /// Lists the sessions of each user.
    ///
    /// # Errors
    /// Never.
    #[tool]
    #[derive(Debug)]
    pub async fn list_sessions() -> Result<Vec<(String, Option<Box<Page<Session>>>)>> {
        let page = Page {
            items: vec![session()],
            next: None,
        };
        Ok(vec![("sarah".to_owned(), Some(Box::new(page)))])
    }

    /// A session, and when it ends.
    #[derive(Serialize, Deserialize, Shape, Debug)]
    pub struct Lease {
        /// The session.
        pub session: Session,
        /// The second at which it ends.
        pub end: u64,
    }

    /// Leases a session.
    ///
    /// # Errors
    /// Never.
    #[tool]
    #[derive(Debug)]
    pub async fn lease_session() -> Result<Lease> {
        Ok(Lease {
            session: session(),
            end: 7,
        })
    }

    /// Closes a session.
    ///
    /// # Errors
    /// Always.
    #[tool]
    #[derive(Debug)]
    pub async fn close_session(
        /// The session.
        session: Session,
    ) -> Result<()> {
        Err(flows::Error::new(format!("{} stays", session.user.login)))
    }
}

/// The runtime crate by yet another path.
pub mod again {
    pub use ::flows;
}

#[cfg(test)]
mod tests {
    use super::{plan, MoveTwice, Point, Shift, Stay};

    #[test]
    fn runs() {
        let point = Point { x: 1, y: Some(2) };
        let moved = smol::block_on(
            MoveTwice {
                point: point.clone(),
                by: 2,
            }
            .run(&()),
        )
        .unwrap();
        assert_eq!(moved, Point { x: 8, y: Some(2) });
        assert_eq!(smol::block_on(Stay { point }.run(&())).unwrap(), "2 2");
        let drawn = super::found::DrawOne { length: 3 };
        assert_eq!(smol::block_on(drawn.run(&())).unwrap(), 3);
        let plan = plan! {
            #![plan(crate = flows)]
            step once = Shift { point: Point { x: 1, y: None }, by: 1 };
            (once.x, once.x + 1)
        };
        assert_eq!(smol::block_on(plan.run(&())).unwrap(), (2, 3));
    }
}
