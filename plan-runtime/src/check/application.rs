//! The bounds of a plan's tools on its application, and rustc's errors for an application that does not satisfy them.
//!
//! rustc checks the bound of the first tool before the bounds of the other tools. If the first bound fails, the application in the bounds of the
//! other tools is an open inference variable, so rustc reports no second error. rustc leaves the variable open only if several implementations could
//! apply. Each trait in the bounds of the first tool therefore has a second implementation, which never applies, because its bound is [`Never`].
//!
//! With two candidates, rustc's error does not name the missing capability. A tool for every application with a capability (`impl<App: HasMail>
//! Call<App>`) therefore has only one candidate: the second implementations need `ONE = true`, and [`First`] has `ONE = false` for this tool.

use super::run::{Request, Started};
use crate::run::Mock;
use crate::{Call, Plan, Tool};
use std::cell::{Ref, RefMut};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::{Arc, MutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// The first tool of a plan. `ONE` is `true` if only particular applications can call it.
pub struct First<T, const ONE: bool>(PhantomData<T>);

/// A question about a tool: can only particular applications call it?
pub struct Kind<T>(PhantomData<T>);

impl<T: Tool> Kind<T> {
    /// `true` if only particular applications can call the tool.
    pub const ONE_APPLICATION: bool = T::ONE_APPLICATION;
}

/// The answer for a type that is not a tool, which has an error of its own.
pub trait NoKind {
    /// No further error.
    const ONE_APPLICATION: bool = true;
}

impl<T> NoKind for Kind<T> {}

/// An application that can call a tool. The application is `Self`, since rustc would infer a parameter from the only
/// application with the tool.
#[diagnostic::on_unimplemented(
    message = "the application `{Self}` cannot call the tool `{T}`",
    label = "this application lacks a capability that `{T}` needs"
)]
pub trait HasTool<T, First> {
    /// Starts a step that calls the tool.
    fn start<'a>(&'a self, request: Request<'_>) -> Started<'a>
    where
        T: 'a;

    /// Returns the obstacles to the start of a plan with this tool.
    #[must_use]
    fn lacks(&self, plan: &Plan) -> Vec<String>;
}

impl<T, F, App, const ONE: bool> HasTool<T, First<F, ONE>> for App
where
    F: CalledDirectlyOn<App, ONE> + KnownOn<App, ONE, App = App>,
    <F as KnownOn<App, ONE>>::App: Calls<T>,
    App: ?Sized,
{
    fn start<'a>(&'a self, request: Request<'_>) -> Started<'a>
    where
        T: 'a,
    {
        <App as Calls<T>>::start(self, request)
    }

    fn lacks(&self, plan: &Plan) -> Vec<String> {
        <App as Calls<T>>::lacks(self, plan)
    }
}

/// An application that starts the calls of a tool.
pub trait Calls<T> {
    /// Starts a step that calls the tool.
    fn start<'a>(&'a self, request: Request<'_>) -> Started<'a>
    where
        T: 'a;

    /// Returns the obstacles to the start of a plan.
    #[must_use]
    fn lacks(&self, plan: &Plan) -> Vec<String> {
        let _ = plan;
        Vec::new()
    }
}

impl<T: Call<App>, App: ?Sized + Sync> Calls<T> for App {
    fn start<'a>(&'a self, request: Request<'_>) -> Started<'a>
    where
        T: 'a,
    {
        request.call::<T, App>(self)
    }
}

/// A mock has every tool. rustc can tell a mock from other applications, since a mock is not `Sync`.
#[diagnostic::do_not_recommend]
impl<T: Tool + 'static> Calls<T> for Mock {
    fn start<'a>(&'a self, request: Request<'_>) -> Started<'a>
    where
        T: 'a,
    {
        Mock::start::<T>(self, request)
    }

    fn lacks(&self, plan: &Plan) -> Vec<String> {
        Mock::lacks(self, plan)
    }
}

/// The first tool of a plan, if the application implements it.
pub trait KnownOn<App: ?Sized, const ONE: bool> {
    /// The application.
    type App: ?Sized;
}

impl<T: Call<App>, App: ?Sized + Sync, const ONE: bool> KnownOn<App, ONE> for T {
    type App = App;
}

#[diagnostic::do_not_recommend]
impl<T: Tool, const ONE: bool> KnownOn<Mock, ONE> for T {
    type App = Mock;
}

#[diagnostic::do_not_recommend]
impl<T: Tool, App: ?Sized> KnownOn<App, true> for T
where
    for<'a> (): Never<'a>,
{
    type App = App;
}

/// The first tool, for an error about a wrong application. The supertrait [`KnownOn`] prevents a second error.
#[diagnostic::on_unimplemented(
    message = "the application `{App}` cannot call the tool `{Self}`",
    label = "this application has no `{Self}`",
    note = "run the plan on an application that has this tool, or write `impl Call<{App}> for {Self}`",
    note = "if `{Self}` is a plan, the application lacks one of its tools"
)]
pub trait CalledOn<App: ?Sized, const ONE: bool>: KnownOn<App, ONE> {}

impl<T: Call<App>, App: ?Sized + Sync, const ONE: bool> CalledOn<App, ONE> for T {}

#[diagnostic::do_not_recommend]
impl<T: Tool, const ONE: bool> CalledOn<Mock, ONE> for T {}

#[diagnostic::do_not_recommend]
impl<T: Tool, App: ?Sized> CalledOn<App, true> for T where for<'a> (): Never<'a> {}

/// The first tool of a plan, for an error about a pointer to an application.
#[diagnostic::on_unimplemented(
    message = "`{App}` is a pointer to an application, but a plan needs the application",
    label = "dereference it: `&*app`; write `&app` instead of `&&app`",
    note = "the tool `{Self}` is called on the application: `&*app` works for a reference, `Box`, `Rc` or `Arc`"
)]
pub trait CalledDirectlyOn<App: ?Sized, const ONE: bool>: KnownOn<App, ONE> {}

impl<T: CalledOn<App, ONE>, App: ?Sized, const ONE: bool> CalledDirectlyOn<App, ONE> for T {}

/// A trait without implementations. The lifetime is for `for<'a>`: rustc assumes that a bound without type parameters holds.
pub trait Never<'a> {}

macro_rules! pointers {
    ($([$($lifetime:lifetime)?] $ty:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($lifetime,)? T: Tool, A: ?Sized, const ONE: bool> KnownOn<$ty, ONE> for T
        where
            for<'a> (): Never<'a>,
        {
            type App = $ty;
        }

        #[diagnostic::do_not_recommend]
        impl<$($lifetime,)? T: Tool, A: ?Sized, const ONE: bool> CalledDirectlyOn<$ty, ONE> for T where
            for<'a> (): Never<'a>
        {
        }
    )*};
}

pointers! {
    ['b] &'b A;
    ['b] &'b mut A;
    [] Box<A>;
    [] Arc<A>;
    [] Rc<A>;
    ['b] Ref<'b, A>;
    ['b] RefMut<'b, A>;
    ['b] MutexGuard<'b, A>;
    ['b] RwLockReadGuard<'b, A>;
    ['b] RwLockWriteGuard<'b, A>;
}
