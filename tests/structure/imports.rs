//! The dependencies between the modules of a folder.

use proc_macro2::{Ident, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, File, ImplItem, Item, ItemMod, ItemUse, Macro, Meta, MetaList, Token, UseTree,
};

/// Macros whose tokens are code of somewhere else.
const QUOTES: [&str; 4] = [
    "quote",
    "quote_spanned",
    "parse_quote",
    "parse_quote_spanned",
];

/// The modules directly inside of a folder, and the paths by which they name each other.
#[derive(Default)]
pub(crate) struct Imports {
    /// The folder, as a module: nothing for that of the crate.
    root: Vec<String>,
    pub(crate) modules: Vec<String>,
    /// The edges between modules, with the file, the line and the source of each path.
    pub(crate) edges: BTreeMap<(usize, usize), Vec<String>>,
    /// The module that a name of the folder's own file is re-exported from.
    exports: BTreeMap<String, usize>,
}

impl Imports {
    /// The imports of the crate in this folder of the workspace.
    pub(crate) fn of(name: &str) -> Self {
        Self::inside(name, &[])
    }

    /// Returns the imports of each folder of the crate.
    pub(crate) fn of_folders(name: &str) -> Vec<Self> {
        let mut all = vec![Self::of(name)];
        let mut next = 0;
        while let Some(imports) = all.get(next) {
            let roots = imports.modules.iter().map(|module| {
                let root = [&imports.root[..], std::slice::from_ref(module)];
                root.concat()
            });
            let folder = |root: &Vec<String>| source(name).join(root.iter().collect::<PathBuf>());
            let inside: Vec<Self> = roots
                .filter(|root| folder(root).is_dir())
                .map(|root| Self::inside(name, &root))
                .collect();
            all.extend(inside);
            next += 1;
        }
        all
    }

    fn inside(name: &str, root: &[String]) -> Self {
        // Tests run in the folder of their package, so paths are relative to it.
        let source = source(name);
        let own = match root {
            [] => source.join("lib.rs"),
            _ => file(&source, root),
        };
        let mut imports = Self::of_root(root, &parse(&own));
        for (module, name) in imports.modules.clone().into_iter().enumerate() {
            let mut open = vec![[root, &[name]].concat()];
            while let Some(inside) = open.pop() {
                let path = file(&source, &inside);
                let code = parse(&path);
                let mut reader = Reader {
                    imports: &mut imports,
                    module,
                    inside,
                    path,
                    files: Vec::new(),
                };
                reader.visit_file(&code);
                open.append(&mut reader.files);
            }
        }
        imports
    }

    /// Returns the modules and re-exports, without any edge.
    pub(crate) fn of_root(root: &[String], code: &File) -> Self {
        let mut imports = Self {
            root: root.to_vec(),
            ..Self::default()
        };
        for item in &code.items {
            if let Item::Mod(module) = item
                && module.content.is_none()
                && !is_test(&module.attrs)
            {
                imports.modules.push(module.ident.to_string());
            }
        }
        for item in &code.items {
            let Item::Use(item) = item else { continue };
            each(&item.tree, &mut Vec::new(), &mut |path, name| {
                let mut path = path.iter().map(Ident::to_string);
                let first = path.find(|name| name != "crate" && name != "self");
                if let Some(module) = first.and_then(|first| imports.position(&first)) {
                    imports.exports.insert(name.to_string(), module);
                }
            });
        }
        imports
    }

    /// Reads code that is part of a module.
    pub(crate) fn read(&mut self, module: &str, code: &File) {
        let inside = [&self.root[..], &[module.to_owned()]].concat();
        let module = self.module(module);
        let path = PathBuf::new();
        Reader {
            imports: self,
            module,
            inside,
            path,
            files: Vec::new(),
        }
        .visit_file(code);
    }

    fn position(&self, module: &str) -> Option<usize> {
        self.modules.iter().position(|it| it == module)
    }

    /// Returns the index of a module in `modules`.
    pub(crate) fn module(&self, name: &str) -> usize {
        self.position(name)
            .unwrap_or_else(|| panic!("there is no module `{name}`"))
    }

    /// The paths of some of the modules, in order.
    pub(crate) fn names(&self, modules: &[usize]) -> Vec<String> {
        let path = |module: &usize| [&self.root[..], &[self.modules[*module].clone()]].concat();
        let mut names: Vec<String> = modules.iter().map(|it| path(it).join("/")).collect();
        names.sort_unstable();
        names
    }

    /// A cycle of modules, with the paths that make it one.
    pub(crate) fn lines(&self, cycle: &[usize]) -> String {
        let mut text = String::new();
        for (from, to) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
            text += &format!(
                "  `{}` needs `{}`\n",
                self.modules[*from], self.modules[*to]
            );
            for line in &self.edges[&(*from, *to)] {
                text += &format!("    {line}\n");
            }
        }
        text
    }
}

/// Returns the source folder of a crate.
fn source(name: &str) -> PathBuf {
    Path::new(name).join("src")
}

fn parse(path: &Path) -> File {
    let code =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    syn::parse_file(&code).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The file of a module.
fn file(source: &Path, inside: &[String]) -> PathBuf {
    let folder = source.join(inside.iter().collect::<PathBuf>());
    match folder.join("mod.rs") {
        path if path.exists() => path,
        _ => folder.with_extension("rs"),
    }
}

/// Returns `true` for an item that exists only in tests.
fn is_test(attrs: &[Attribute]) -> bool {
    fn needs_test(meta: &Meta) -> bool {
        let Meta::List(list) = meta else {
            return meta.path().is_ident("test");
        };
        let nested = Punctuated::<Meta, Token![,]>::parse_terminated.parse2(list.tokens.clone());
        let mut nested = nested.into_iter().flatten();
        match list.path.get_ident().map(Ident::to_string).as_deref() {
            Some("cfg" | "all") => nested.any(|meta| needs_test(&meta)),
            Some("any") => nested.all(|meta| needs_test(&meta)),
            _ => false,
        }
    }
    attrs
        .iter()
        .any(|attr| attr.path().is_ident("cfg") && needs_test(&attr.meta))
}

/// Hands over each path of a `use` and the name that it gives to the last part.
fn each(tree: &UseTree, path: &mut Vec<Ident>, f: &mut dyn FnMut(&[Ident], &Ident)) {
    let before = path.len();
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.clone());
            each(&tree.tree, path, f);
        }
        UseTree::Name(tree) => {
            path.push(tree.ident.clone());
            f(path, &tree.ident);
        }
        UseTree::Rename(tree) => {
            path.push(tree.ident.clone());
            f(path, &tree.rename);
        }
        UseTree::Glob(tree) => {
            let star = Ident::new("__glob", tree.star_token.spans[0]);
            path.push(star.clone());
            f(path, &star);
        }
        UseTree::Group(tree) => tree.items.iter().for_each(|tree| each(tree, path, f)),
    }
    path.truncate(before);
}

/// Reads a file of a module.
struct Reader<'i> {
    imports: &'i mut Imports,
    module: usize,
    /// The modules around, from the root on.
    inside: Vec<String>,
    path: PathBuf,
    /// The modules that have files of their own.
    files: Vec<Vec<String>>,
}

impl Reader<'_> {
    fn path(&mut self, path: &[Ident]) {
        let names: Vec<String> = path.iter().map(Ident::to_string).collect();
        let mut rest = &names[..];
        let mut around = &self.inside[..];
        match names.first().map(String::as_str) {
            Some("crate") => (around, rest) = (&[], &names[1..]),
            Some("super" | "self") => {
                while let [first, after @ ..] = rest
                    && (first == "super" || first == "self")
                {
                    around = &around[..around.len() - usize::from(first == "super")];
                    rest = after;
                }
            }
            _ => return,
        }
        let absolute = [around, rest].concat();
        let root = &self.imports.root;
        let Some([name, ..]) = absolute.strip_prefix(&root[..]) else {
            return;
        };
        let line = path[0].span().start().line;
        let place = format!("{}:{line}: {}", self.path.display(), names.join("::"));
        let export = || self.imports.exports.get(name).copied();
        let Some(to) = self.imports.position(name).or_else(export) else {
            // The file of a folder may declare things itself. That of a crate does not.
            assert!(
                !root.is_empty(),
                "{place}: it is not known which module this is"
            );
            return;
        };
        if to != self.module {
            self.imports
                .edges
                .entry((self.module, to))
                .or_default()
                .push(place);
        }
    }

    fn tree(&mut self, tree: &UseTree) {
        let mut paths = Vec::new();
        each(tree, &mut Vec::new(), &mut |path, _| {
            paths.push(path.to_vec());
        });
        paths.iter().for_each(|path| self.path(path));
    }

    /// Finds paths in tokens: `crate::x`, `super::x`, `crate::{x, y}`.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |at: usize, sign: char| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == sign);
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let start = at;
            at += 1;
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(first) if first == "crate" || first == "super" => {
                    while is(at, ':')
                        && is(at + 1, ':')
                        && matches!(
                            tokens.get(at + 2),
                            Some(TokenTree::Ident(_) | TokenTree::Group(_))
                        )
                    {
                        at += 3;
                    }
                    let path: TokenStream = tokens[start..at].iter().cloned().collect();
                    match syn::parse2(path) {
                        Ok(tree) => self.tree(&tree),
                        Err(error) => panic!("{}: {error}", self.path.display()),
                    }
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attrs = match item {
            Item::Const(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Trait(item) => &item.attrs,
            Item::Type(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => panic!(
                "{}: an item of a kind that is not known here",
                self.path.display()
            ),
        };
        if !is_test(attrs) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if !matches!(item, ImplItem::Fn(item) if is_test(&item.attrs)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let moved = module.attrs.iter().any(|attr| attr.path().is_ident("path"));
        assert!(
            !moved,
            "{}: `#[path]` is not known here",
            self.path.display()
        );
        self.inside.push(module.ident.to_string());
        if module.content.is_none() {
            self.files.push(self.inside.clone());
        }
        visit::visit_item_mod(self, module);
        self.inside.pop();
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.tree(&item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<Ident> = path
            .segments
            .iter()
            .map(|segment| segment.ident.clone())
            .collect();
        self.path(&names);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        visit::visit_macro(self, call);
        let name = call
            .path
            .segments
            .last()
            .map(|segment| segment.ident.to_string());
        if !name.is_some_and(|name| QUOTES.contains(&&*name)) {
            self.tokens(call.tokens.clone());
        }
    }

    fn visit_meta_list(&mut self, list: &'ast MetaList) {
        visit::visit_meta_list(self, list);
        self.tokens(list.tokens.clone());
    }
}
