//! A measure of sentences: each habit that hides a noun costs points.
//!
//! Well-edited Rust projects have 0.9 to 1.8 points per 100 words.

use std::collections::HashMap;

/// Replaces inline code, so that no phrase matches across it.
pub(crate) const CODE: char = '\u{fffc}';

/// The points from which a sentence needs a rewrite.
pub(crate) const HEAVY: usize = 3;

const LONGEST: usize = 28;

struct Habit {
    name: &'static str,
    points: usize,
    /// Phrases of words with one space between them:
    ///
    /// | part | matches |
    /// |---|---|
    /// | `a\|b\|c-d` | a word `a` or `b`, or the words `c d`; with an uppercase letter, the case counts |
    /// | `^a` | the word at the start of a sentence |
    /// | `,a` | the word after a comma |
    /// | `?a\|b` | the word, or nothing |
    /// | `!a\|b` | nothing, if the word does not follow inside the sentence |
    /// | `!?` | nothing, if the sentence is not a question |
    /// | `_` | any word |
    /// | `...` | up to three words |
    /// | `;` | nothing, if the words before end with a space or a comma |
    phrases: &'static [&'static str],
}

const HABITS: &[Habit] = &[
    Habit {
        name: "noun clause",
        points: 2,
        phrases: &[
            "^what|who|whoever|whatever|where|whether|when|how-long|how-many|how-much|how-often !?",
            "of|in|to|for|from|by|with|at|on|about|than|as|make|makes|has|have|show|shows|know|knows|compare|compares|contain|contains|keep|keeps|get|gets|see|sees|list|lists|need|needs|take|takes|drop|drops|is|are|and what|whatever|whoever|whichever",
            ",what|whatever|whoever|whichever",
        ],
    },
    Habit {
        name: "hidden noun",
        points: 2,
        phrases: &[
            "of one|those|these|several|some|more|other|others|all|each that|which",
            "of|in|for|by|from|to|at which|whom the|a|an|it|they|one|each|all|some|nothing",
            "those|ones|that|all|some|other|others|another|one|none|any|both|something|everything|nothing|anything that|which|of-which|of-those|of-these|of-them|of-it|in-which !is|are",
        ],
    },
    Habit {
        name: "say",
        points: 1,
        phrases: &["say|says|said|saying"],
    },
    Habit {
        name: "go on",
        points: 1,
        phrases: &["go|goes|going|went|gone on"],
    },
    Habit {
        name: "told",
        points: 1,
        phrases: &[
            "is|are|was|were|be|been told|asked|heard|known|noted|looked|given|said|meant",
            "hear|hears|know|knows",
        ],
    },
    Habit {
        name: "there",
        points: 1,
        phrases: &["is|are|was|were ?not|still|already there"],
    },
    Habit {
        name: "bare pronoun",
        points: 1,
        phrases: &[
            "^It|This|That|They|Those|These|One|Other|Others|Both|None|The-same|The-other is|are|has|have|was|were|does|do|make|makes|give|gives|take|takes|say|says|need|needs|can|may|must|goes|go|keep|keeps|hold|holds|end|ends|count|counts|also",
        ],
    },
    Habit {
        name: "fronted of",
        points: 2,
        phrases: &["^Of|Among|From _ ;"],
    },
    Habit {
        name: "passive once",
        points: 1,
        phrases: &["once|until|when|as-soon-as it|that|this|they is|was|has|have|are|were"],
    },
    Habit {
        name: "too",
        points: 1,
        phrases: &[",too", "also in|of|where|if|by|when|with|to|from|inside"],
    },
    Habit {
        name: "as it",
        points: 1,
        phrases: &["as any|all|other|others|ever|it-is|it-was|they-are|itself|such"],
    },
    Habit {
        name: "vague noun",
        points: 1,
        phrases: &[
            "text|texts|mistake|mistakes|place|places|picture|pictures",
            "words of",
            "way|ways out",
            "by hand",
        ],
    },
    Habit {
        name: "give back",
        points: 1,
        phrases: &["give|gives|given|gave|giving ... back"],
    },
    Habit {
        name: "nor",
        points: 1,
        phrases: &["nor|neither", "not _ ,but", "no|nothing other|further|more"],
    },
];

/// A word of a sentence, with the characters between the word before and it.
struct Token<'s> {
    word: &'s str,
    lower: String,
    gap: &'s str,
    after_code: bool,
}

impl Token<'_> {
    fn follows_a_space(&self) -> bool {
        self.gap == " " && !self.after_code && !self.word.starts_with(CODE)
    }

    fn is(&self, wanted: &str) -> bool {
        if wanted.starts_with(char::is_uppercase) {
            self.word == wanted
        } else {
            self.lower == wanted
        }
    }
}

fn tokens(sentence: &str) -> Vec<Token<'_>> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut found, mut end, mut after_code) = (Vec::new(), 0, false);
    while let Some(start) = sentence[end..].find(|c| in_word(c) || c == CODE) {
        let gap = &sentence[end..end + start];
        let rest = &sentence[end + start..];
        let is_code = rest.starts_with(CODE);
        let length = if is_code {
            CODE.len_utf8()
        } else {
            rest.find(|c| !in_word(c)).unwrap_or(rest.len())
        };
        found.push(Token {
            word: &rest[..length],
            lower: rest[..length].to_lowercase(),
            gap,
            after_code,
        });
        (end, after_code) = (end + start + length, is_code);
    }
    found
}

enum Part {
    /// Alternatives of one or more words each.
    Words(Vec<Vec<&'static str>>),
    Optional(Vec<&'static str>),
    Unless(Vec<&'static str>),
    Statement,
    Any,
    Gap,
    Open,
}

impl Part {
    fn read(part: &'static str) -> Self {
        let words = |part: &'static str| part.split('|').collect();
        match part {
            "!?" => Self::Statement,
            "_" => Self::Any,
            "..." => Self::Gap,
            ";" => Self::Open,
            _ => match (part.strip_prefix('?'), part.strip_prefix('!')) {
                (Some(part), _) => Self::Optional(words(part)),
                (_, Some(part)) => Self::Unless(words(part)),
                _ => Self::Words(
                    part.split('|')
                        .map(|words| words.split('-').collect())
                        .collect(),
                ),
            },
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Start {
    Anywhere,
    Sentence,
    Comma,
}

struct Phrase {
    habit: usize,
    start: Start,
    parts: Vec<Part>,
}

/// The phrases of all habits by their first word.
pub(crate) struct Measure {
    phrases: Vec<Phrase>,
    by_first: HashMap<String, Vec<usize>>,
}

/// The points of a sentence, with the names of its habits.
pub(crate) struct Points {
    pub(crate) points: usize,
    pub(crate) habits: Vec<&'static str>,
}

impl Measure {
    pub(crate) fn new() -> Self {
        let mut measure = Self {
            phrases: Vec::new(),
            by_first: HashMap::new(),
        };
        for (habit, phrases) in HABITS.iter().map(|habit| habit.phrases).enumerate() {
            for phrase in phrases {
                measure.add(habit, phrase);
            }
        }
        measure
    }

    fn add(&mut self, habit: usize, phrase: &'static str) {
        let (start, phrase) = match phrase.as_bytes()[0] {
            b'^' => (Start::Sentence, &phrase[1..]),
            b',' => (Start::Comma, &phrase[1..]),
            _ => (Start::Anywhere, phrase),
        };
        // A comma inside a phrase belongs to the word after it.
        let parts: Vec<Part> = phrase.split(' ').map(Part::read).collect();
        let Part::Words(firsts) = &parts[0] else {
            panic!("`{phrase}` does not start with a word");
        };
        let mut firsts: Vec<String> = firsts.iter().map(|it| it[0].to_lowercase()).collect();
        firsts.dedup();
        for first in firsts {
            let phrases = self.by_first.entry(first).or_default();
            phrases.push(self.phrases.len());
        }
        self.phrases.push(Phrase {
            habit,
            start,
            parts,
        });
    }

    pub(crate) fn points(&self, sentence: &str) -> Points {
        let tokens = tokens(sentence);
        let is_question = sentence.ends_with('?');
        let mut found = Points {
            points: 0,
            habits: Vec::new(),
        };
        // Matches of one habit do not overlap.
        let mut free_from = [0; HABITS.len()];
        for (at, token) in tokens.iter().enumerate() {
            let candidates = self.by_first.get(&token.lower).into_iter().flatten();
            for phrase in candidates.map(|it| &self.phrases[*it]) {
                let starts = match phrase.start {
                    Start::Anywhere => true,
                    Start::Sentence => at == 0 && token.gap.is_empty(),
                    Start::Comma => token.gap.ends_with(", "),
                };
                if !starts || at < free_from[phrase.habit] {
                    continue;
                }
                if let Some(end) = end(&phrase.parts, &tokens, at, true, is_question) {
                    free_from[phrase.habit] = end.max(at + 1);
                    let habit = &HABITS[phrase.habit];
                    found.points += habit.points;
                    found.habits.push(habit.name);
                }
            }
        }
        let chain = sentence.matches(": ").count() + sentence.matches("; ").count();
        if chain > 1 {
            found.points += chain - 1;
            found.habits.push("chain");
        }
        if words(sentence) > LONGEST {
            found.points += 1;
            found.habits.push("long");
        }
        found
    }
}

/// Returns the index after the tokens that the parts match.
fn end(
    parts: &[Part],
    tokens: &[Token<'_>],
    at: usize,
    first: bool,
    is_question: bool,
) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else {
        return Some(at);
    };
    let then = |at| end(rest, tokens, at, false, is_question);
    let next = tokens.get(at);
    let next_word = next.filter(|it| first || it.follows_a_space());
    match part {
        Part::Words(alternatives) => alternatives
            .iter()
            .filter(|words| matches(words, &tokens[at.min(tokens.len())..], first))
            .find_map(|words| then(at + words.len())),
        Part::Optional(words) => next_word
            .filter(|token| words.iter().any(|word| token.is(word)))
            .and_then(|_| then(at + 1))
            .or_else(|| then(at)),
        Part::Unless(words) => {
            let inside = tokens.get(at + 1).is_some_and(|it| it.gap.starts_with(' '));
            let follows = next_word.is_some_and(|it| words.iter().any(|word| it.is(word)));
            if inside && follows { None } else { then(at) }
        }
        Part::Statement => {
            if is_question {
                None
            } else {
                then(at)
            }
        }
        Part::Any => next_word.and_then(|_| then(at + 1)),
        Part::Gap => (at..=at + 3)
            .take_while(|end| {
                (at..*end).all(|it| tokens.get(it).is_some_and(Token::follows_a_space))
            })
            .find_map(then),
        Part::Open => {
            let gap = next.map_or("", |it| it.gap);
            if gap.starts_with(' ') || gap.starts_with(", ") {
                then(at)
            } else {
                None
            }
        }
    }
}

fn matches(words: &[&str], tokens: &[Token<'_>], first: bool) -> bool {
    let mut pairs = words.iter().zip(tokens).enumerate();
    words.len() <= tokens.len()
        && pairs.all(|(index, (word, token))| match word.strip_prefix(',') {
            Some(word) => token.is(word) && token.gap == ", ",
            None => token.is(word) && (first && index == 0 || token.follows_a_space()),
        })
}

/// Counts words; inline code is one word.
pub(crate) fn words(sentence: &str) -> usize {
    let (mut count, mut in_word) = (0, false);
    for c in sentence.chars() {
        let starts = c.is_ascii_alphabetic() && !in_word;
        count += usize::from(starts || c == CODE);
        in_word = c.is_ascii_alphabetic() || in_word && matches!(c, '\'' | '-');
    }
    count
}
