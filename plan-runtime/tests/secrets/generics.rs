//! Secrets in the parameters of types: every type of a table has one somewhere, and nothing shows it.

use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::plan::Secrets;
use plan_runtime::{Call, Result, Shape, Tool, plan, tool};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, LinkedList, VecDeque};
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Mutex;

const MARKER: &str = "hunter2";

/// A value of the type, with the marker in each secret of it.
trait Make {
    fn make() -> Self;
}

macro_rules! make {
    ($({$($generics:tt)*} $ty:ty = $value:expr;)*) => {$(
        impl<$($generics)*> Make for $ty {
            fn make() -> Self {
                $value
            }
        }
    )*};
}

/// Has a secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Shape)]
struct Card {
    name: String,
    #[shape(secret)]
    number: String,
}

/// Has none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Shape)]
struct Plain {
    name: String,
}

/// A secret that is a string in JSON, so that it can be the key of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Shape)]
struct Password(#[shape(secret)] String);

/// Types of a crate without plans.
mod other {
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    pub(super) struct Url(pub(super) String);

    #[derive(Clone, Debug, Serialize, Deserialize)]
    pub(super) struct Wrapper<T> {
        pub(super) inner: T,
    }
}

use other::{Url, Wrapper};

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Page<T> {
    items: Vec<T>,
    next: Option<u64>,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Newtype<T>(T);

#[derive(Clone, Serialize, Deserialize, Shape)]
#[serde(transparent)]
struct Transparent<T> {
    inner: T,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Pair<A, B>(A, B);

#[derive(Clone, Serialize, Deserialize, Shape)]
enum Either<A, B> {
    Left(A),
    Right { value: B },
    Neither,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Tree<T> {
    value: T,
    children: Vec<Tree<T>>,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Odd<T> {
    value: T,
    next: Option<Box<Even<T>>>,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Even<T> {
    next: Option<Box<Odd<T>>>,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Bounded<T: Shape + Clone>
where
    T: Send,
{
    value: Option<T>,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Sized2<T, const N: usize> {
    values: VecDeque<T>,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Default2<T = Card> {
    value: T,
}

/// A struct with a field of another crate's type.
#[derive(Clone, Serialize, Deserialize, Shape)]
struct InWrapper<T> {
    wrapper: Wrapper<T>,
    pair: (u8, T),
    result: Result2<T>,
}

type Result2<T> = std::result::Result<T, String>;

trait Model {
    type Row;
}

#[derive(Clone, Serialize, Deserialize)]
struct Cards;

impl Model for Cards {
    type Row = Card;
}

#[derive(Clone, Serialize, Deserialize)]
struct Plains;

impl Model for Plains {
    type Row = Plain;
}

#[derive(Clone, Serialize, Deserialize)]
struct Number<const N: usize>;

impl Model for Number<1> {
    type Row = Card;
}

#[derive(Serialize, Deserialize, Shape)]
#[serde(bound = "M::Row: Serialize + DeserializeOwned")]
struct Rows<M: Model> {
    rows: Vec<M::Row>,
    #[serde(skip)]
    model: PhantomData<M>,
}

#[derive(Serialize, Deserialize, Shape)]
#[serde(bound = "M::Row: Serialize + DeserializeOwned")]
struct Qualified<M: Model> {
    rows: Vec<Option<<M as Model>::Row>>,
}

type RowOf<M> = <M as Model>::Row;

#[derive(Serialize, Deserialize, Shape)]
#[serde(bound = "M::Row: Serialize + DeserializeOwned")]
struct Aliased<M: Model> {
    rows: Vec<RowOf<M>>,
}

#[derive(Serialize, Deserialize, Shape)]
#[serde(bound = "RowOf<Number<N>>: Serialize + DeserializeOwned")]
struct ByNumber<const N: usize>
where
    Number<N>: Model,
{
    row: <Number<N> as Model>::Row,
}

/// A struct with the JSON of another type.
#[derive(Clone, Serialize, Deserialize, Shape)]
#[serde(from = "Card", into = "Card")]
struct Converted {
    text: String,
}

impl From<Card> for Converted {
    fn from(card: Card) -> Self {
        Self { text: card.number }
    }
}

impl From<Converted> for Card {
    fn from(converted: Converted) -> Self {
        Self {
            name: "sarah".into(),
            number: converted.text,
        }
    }
}

/// The JSON of the type contains the type.
#[derive(Clone, Serialize, Deserialize, Shape)]
#[serde(from = "Link", into = "Link")]
struct Chain(Vec<String>);

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Link {
    name: String,
    #[shape(secret)]
    number: String,
    next: Option<Box<Chain>>,
}

impl From<Link> for Chain {
    fn from(link: Link) -> Self {
        let rest = link.next.into_iter().flat_map(|next| next.0);
        Self([link.number].into_iter().chain(rest).collect())
    }
}

impl From<Chain> for Link {
    fn from(mut chain: Chain) -> Self {
        let number = chain.0.remove(0);
        let next = (!chain.0.is_empty()).then(|| Box::new(chain));
        Self {
            name: "sarah".into(),
            number,
            next,
        }
    }
}

/// The JSON of the type is that of another for each parameter.
#[derive(Clone, Serialize, Deserialize, Shape)]
#[serde(from = "Page<T>", into = "Page<T>")]
#[serde(bound = "T: Clone + Serialize + DeserializeOwned")]
struct Paged<T>(Vec<T>);

impl<T> From<Page<T>> for Paged<T> {
    fn from(page: Page<T>) -> Self {
        Self(page.items)
    }
}

impl<T> From<Paged<T>> for Page<T> {
    fn from(paged: Paged<T>) -> Self {
        Self {
            items: paged.0,
            next: None,
        }
    }
}

/// Public, with a bound that is not.
#[derive(Serialize, Deserialize, Shape)]
#[allow(private_bounds)]
#[serde(bound = "M::Row: Serialize + DeserializeOwned, T: Serialize + DeserializeOwned")]
pub(crate) struct PublicRows<M: Model, T> {
    row: M::Row,
    other: T,
}

/// A struct whose marked field is somewhere in the JSON of another type.
#[derive(Clone, Serialize, Deserialize, Shape)]
#[serde(from = "String", into = "String")]
struct MarkedConverted {
    #[shape(secret)]
    text: String,
}

impl From<String> for MarkedConverted {
    fn from(text: String) -> Self {
        Self { text }
    }
}

impl From<MarkedConverted> for String {
    fn from(converted: MarkedConverted) -> Self {
        converted.text
    }
}

/// Has the name of a type of `serde_json`.
mod named {
    use super::*;

    #[derive(Clone, Serialize, Deserialize, Shape)]
    pub(super) struct Value {
        #[shape(secret)]
        pub(super) text: String,
    }
}

use named::Value;

type Cards4 = HashMap<String, Vec<Option<Box<Page<Card>>>>>;
type CardsAndUrls = Vec<HashMap<String, Vec<Option<(Url, Box<(Card, u8)>)>>>>;
type Wrapped = Wrapper<Card>;

make! {
    {} Card = Card { name: "sarah".into(), number: MARKER.into() };
    {} Plain = Plain { name: "sarah".into() };
    {} Password = Password(MARKER.into());
    {} Url = Url("https://example.org".into());
    {} String = "text".into();
    {} u8 = 7;
    {T: Make} Wrapper<T> = Wrapper { inner: T::make() };
    {T: Make} Page<T> = Page { items: vec![T::make(), T::make()], next: Some(2) };
    {T: Make} Newtype<T> = Newtype(T::make());
    {T: Make} Transparent<T> = Transparent { inner: T::make() };
    {A: Make, B: Make} Pair<A, B> = Pair(A::make(), B::make());
    {A: Make, B: Make} Either<A, B> = Either::Right { value: B::make() };
    {T: Make} Tree<T> = Tree {
        value: T::make(),
        children: vec![Tree { value: T::make(), children: vec![Tree { value: T::make(), children: vec![] }] }],
    };
    {T: Make} Odd<T> = Odd {
        value: T::make(),
        next: Some(Box::new(Even { next: Some(Box::new(Odd { value: T::make(), next: None })) })),
    };
    {T: Make + Shape + Clone + Send} Bounded<T> = Bounded { value: Some(T::make()) };
    {T: Make, const N: usize} Sized2<T, N> = Sized2 { values: VecDeque::from([T::make()]) };
    {T: Make} Default2<T> = Default2 { value: T::make() };
    {T: Make} InWrapper<T> = InWrapper { wrapper: Make::make(), pair: Make::make(), result: Ok(T::make()) };
    {M: Model<Row: Make>} Rows<M> = Rows { rows: vec![Make::make()], model: PhantomData };
    {M: Model<Row: Make>} Qualified<M> = Qualified { rows: vec![Some(Make::make())] };
    {M: Model<Row: Make>} Aliased<M> = Aliased { rows: vec![Make::make()] };
    {} ByNumber<1> = ByNumber { row: Make::make() };
    {} Chain = Chain(vec![MARKER.into(); 4]);
    {T: Make} Paged<T> = Paged(vec![T::make()]);
    {M: Model<Row: Make>, T: Make} PublicRows<M, T> = PublicRows { row: Make::make(), other: T::make() };
    {} Converted = Converted { text: MARKER.into() };
    {} MarkedConverted = MarkedConverted { text: MARKER.into() };
    {} Value = Value { text: MARKER.into() };
    {T: Make} Vec<T> = vec![T::make()];
    {T: Make} VecDeque<T> = [T::make()].into();
    {T: Make} LinkedList<T> = [T::make()].into();
    {T: Make} [T; 2] = [T::make(), T::make()];
    {T: Make} Option<T> = Some(T::make());
    {T: Make} Box<T> = Box::new(T::make());
    {T: Make} Mutex<T> = Mutex::new(T::make());
    {T: Make} RefCell<T> = RefCell::new(T::make());
    {T: Make + Clone} Cow<'static, T> = Cow::Owned(T::make());
    {T: Make} Range<T> = T::make()..T::make();
    {A: Make, B: Make} (A, B) = (A::make(), B::make());
    {T: Make, E} std::result::Result<T, E> = Ok(T::make());
    {K: Make + Eq + Hash, V: Make} HashMap<K, V> = [(K::make(), V::make())].into();
    {K: Make + Ord, V: Make} BTreeMap<K, V> = [(K::make(), V::make())].into();
    {T} PhantomData<T> = PhantomData;
    {} serde_json::Value = serde_json::json!({"a": 1});
}

/// The secrets of a tool's output and arguments in its contract.
struct Found {
    name: &'static str,
    output: Secrets,
    arguments: Secrets,
    /// The serialized value.
    value: serde_json::Value,
}

fn found<T, Output: Make + Serialize>(name: &'static str) -> Found
where
    T: Tool<Output = Output>,
{
    let contract = Contract::of::<T>();
    Found {
        name,
        output: contract.secret_output,
        arguments: contract.secret_arguments,
        value: serde_json::to_value(Output::make()).unwrap(),
    }
}

/// A tool for each type, with an argument and an output of it.
macro_rules! tools {
    ($($ty:ty),* $(,)?) => {
        vec![$({
            #[derive(Serialize, Deserialize, Shape, Tool)]
            #[tool(output = $ty)]
            struct Give {
                value: $ty,
            }
            found::<Give, $ty>(stringify!($ty))
        }),*]
    };
}

/// Generates a tool for each wrapper of each of these types.
macro_rules! wrapped {
    ($($ty:ty),* $(,)?) => {
        [$(tools![
            Vec<$ty>, LinkedList<$ty>, [$ty; 2], Option<$ty>, Box<$ty>,
            ($ty, u8), (Url, $ty), std::result::Result<$ty, String>, std::result::Result<$ty, Url>,
            HashMap<String, $ty>, BTreeMap<Url, $ty>,
            Page<$ty>, Newtype<$ty>, Transparent<$ty>, Pair<u8, $ty>, Pair<$ty, Url>, Either<Url, $ty>,
            Tree<$ty>, Odd<$ty>, Sized2<$ty, 3>, Default2<$ty>, InWrapper<$ty>, Wrapper<$ty>,
        ]),*]
        .into_iter()
        .flatten()
    };
}

fn assert_hidden(found: &Found) {
    let Found {
        name,
        output,
        arguments,
        value,
    } = found;
    assert!(value.to_string().contains(MARKER), "{name}: {value}");
    let shown = output.mask(value.clone());
    assert!(!shown.to_string().contains(MARKER), "{name}: {shown}");
    let shown = arguments.mask(serde_json::json!({ "value": value }));
    assert!(!shown.to_string().contains(MARKER), "{name}: {shown}");
}

fn assert_shown(found: &Found) {
    let Found {
        name,
        output,
        arguments,
        ..
    } = found;
    assert!(output.is_empty(), "{name}: {output:?}");
    assert!(arguments.is_empty(), "{name}: {arguments:?}");
}

#[test]
fn no_type_shows_the_secret_of_a_parameter() {
    let all = wrapped![
        Card,
        Vec<Option<Card>>,
        Page<Card>,
        (u8, Card),
        Either<u8, Card>,
        Tree<Card>,
        Wrapper<Card>,
        Pair<Url, Card>,
        Converted,
        Password,
    ];
    for found in all {
        assert_hidden(&found);
    }
}

#[test]
fn no_type_hides_what_is_not_secret() {
    let all = wrapped![
        Plain,
        Vec<Option<Plain>>,
        Page<Plain>,
        (u8, Plain),
        Tree<Plain>,
        Wrapper<Plain>,
        Pair<Url, Plain>,
        Url,
    ];
    for found in all {
        assert_shown(&found);
    }
}

#[test]
fn other_forms_of_types_with_a_secret() {
    let all = tools![
        Card,
        Password,
        Value,
        Vec<Value>,
        Converted,
        Vec<Converted>,
        Chain,
        Option<(Chain, Url)>,
        Paged<Card>,
        Vec<Paged<Option<Page<Card>>>>,
        Paged<(Url, Card)>,
        PublicRows<Cards, u8>,
        PublicRows<Plains, Card>,
        PublicRows<Cards, Url>,
        MarkedConverted,
        Page<MarkedConverted>,
        Default2,
        Vec<Default2>,
        Bounded<Card>,
        Bounded<Vec<Card>>,
        Bounded<Page<Card>>,
        Bounded<Option<(Card, u8)>>,
        Rows<Cards>,
        Vec<Rows<Cards>>,
        Qualified<Cards>,
        Aliased<Cards>,
        Page<Aliased<Cards>>,
        ByNumber<1>,
        HashMap<Password, u8>,
        BTreeMap<Password, Card>,
        Mutex<Card>,
        RefCell<Vec<Card>>,
        Cow<'static, Card>,
        Range<Card>,
        Cards4,
        CardsAndUrls,
        Wrapped,
        Vec<Wrapped>,
        Page<Wrapped>,
    ];
    for found in all {
        assert_hidden(&found);
    }
}

#[test]
fn other_forms_of_types_without_a_secret() {
    let all = tools![
        Rows<Plains>,
        Qualified<Plains>,
        PublicRows<Plains, u8>,
        Paged<Plain>,
        Paged<(Url, Plain)>,
        Bounded<Vec<Plain>>,
        PhantomData<Card>,
        BTreeMap<Url, u8>,
        Vec<(Url, String)>,
    ];
    for found in all {
        assert_shown(&found);
    }
}

/// A value outside of secret parameters is shown.
#[test]
fn exactly_the_secrets_are_found() {
    let all = tools![
        Page<Card>,
        Page<Page<Vec<Option<Card>>>>,
        HashMap<Url, Page<Card>>,
        (Url, Card),
        Page<(Url, Card)>,
        Pair<Url, Card>,
        Tree<Card>,
        InWrapper<Card>,
        Either<u8, Card>,
        std::result::Result<Card, Url>,
        Range<Card>,
        Rows<Cards>,
        Default2,
        Cards4,
        Bounded<Vec<Card>>,
        HashMap<Password, u8>,
        Converted,
        Chain,
        Paged<Card>,
        PublicRows<Cards, u8>,
        // A type of another crate is among its parameters, and the other one is not known then.
        PublicRows<Cards, Url>,
    ];
    let pointers: Vec<_> = all
        .iter()
        .map(|it| it.output.pointers().join(" "))
        .collect();
    let expected = [
        "/items/*/number",
        "/items/*/items/*/*/number",
        "/*/items/*/number",
        "/1/number",
        "/items/*/1/number",
        "/1/number",
        "/children/* /value/number",
        "/pair/1/number /result/Ok/number /wrapper",
        "",
        "/Ok/number",
        "/end/number /start/number",
        "/rows/*/number",
        "/value/number",
        "/*/*/items/*/number",
        "/value/*/number",
        "",
        "/number",
        "/next /number",
        "/items/*/number",
        "/row/number",
        "/row",
    ];
    assert_eq!(pointers, expected);
    assert!(all[8].output.pointers() == [""] && all[15].output.pointers() == [""]);
}

/// A tool for every type.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Vec<T>)]
struct Repeat<T: Send + 'static> {
    item: T,
}

impl<App: ?Sized + Sync, T: Clone + Send + Sync + 'static> Call<App> for Repeat<T>
where
    Self: Tool<Output = Vec<T>>,
{
    async fn call(self, _: &App) -> Result<Vec<T>> {
        Ok(vec![self.item; 2])
    }
}

/// A tool with a hand-written contract.
#[derive(Serialize, Deserialize, Shape)]
struct Same<T> {
    value: T,
}

impl<T: Serialize + DeserializeOwned + Send + 'static> Tool for Same<T> {
    type Output = T;
    const NAME: &'static str = "same";
}

impl<App: ?Sized + Sync, T: Serialize + DeserializeOwned + Send + Sync + 'static> Call<App>
    for Same<T>
{
    async fn call(self, _: &App) -> Result<T> {
        Ok(self.value)
    }
}

#[tool]
async fn list_cards() -> Result<Page<Card>> {
    Ok(Make::make())
}

#[tool]
async fn find_wrapped() -> Result<Wrapper<Vec<Card>>> {
    Ok(Make::make())
}

#[tool]
async fn refuse(page: Page<Card>) -> Result<()> {
    drop(page);
    Err(plan_runtime::Error::new("refused"))
}

type AliasedTool = Same<HashMap<Url, Tree<Card>>>;

plan! {
    All(pages: Page<Card>, card: Card, trees: HashMap<Url, Tree<Card>>, urls: Vec<Url>) -> Page<Card> {
        step listed = ListCards {};
        step _wrapped = FindWrapped {};
        step _repeated = Repeat::<Page<Card>> { item: listed };
        step _same = Same::<Page<Card>> { value: pages };
        step _trees = AliasedTool { value: trees };
        step _literal = Same::<Vec<Card>> { value: [Card { name: "sarah", number: card.number }] };
        step plain = Repeat::<Vec<Url>> { item: urls };
        step _text = Same::<String> { value: plain[0][0].0.clone() };
        #[optional]
        step _refused = Refuse { page: listed };
        listed
    }
}

#[test]
fn runs_do_not_show_secrets_of_parameters() {
    let all = All {
        pages: Make::make(),
        card: Make::make(),
        trees: [(Url::make(), Make::make())].into(),
        urls: vec![Url::make()],
    };
    let run = all.run(&()).capture_arguments(true).capture_outputs(true);
    let (output, report) = smol::block_on(run.with_report());
    assert_eq!(output.unwrap().items[0].number, MARKER);
    let json = serde_json::to_string(&report).unwrap();
    let shown = format!("{report} {report:?} {json} {}", report.to_html());
    assert!(!shown.contains(MARKER), "{shown}");
    let of = |step: &str| report.step(step).unwrap().output().unwrap().to_string();
    assert_eq!(of("_text"), r#""https://example.org""#);
    assert_eq!(
        of("plain"),
        r#"[["https://example.org"],["https://example.org"]]"#
    );
    assert!(of("_repeated").contains("sarah"));
    let toolbox = Toolbox::new()
        .with::<All>()
        .with::<ListCards>()
        .with::<Repeat<Page<Card>>>()
        .with::<Same<Page<Card>>>();
    let text = r#"[
        {"id": "a", "tool": "list_cards", "arguments": {}},
        {"id": "b", "tool": "repeat", "arguments": {"item": "{{a.result}}"}},
        {"id": "c", "tool": "same", "arguments": {"value": "{{a.result}}"}}
    ]"#;
    let document = toolbox.read(text).unwrap();
    let run = toolbox
        .run(document.plan(), (), &())
        .capture_arguments(true)
        .capture_outputs(true);
    let (output, report) = smol::block_on(run.with_report());
    assert!(output.unwrap().to_string().contains(MARKER));
    let json = serde_json::to_string(&report).unwrap();
    let shown = format!("{report} {report:?} {json} {}", report.to_html());
    assert!(!shown.contains(MARKER), "{shown}");
}
