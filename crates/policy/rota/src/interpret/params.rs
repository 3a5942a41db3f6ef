//! Parameters of policies, as the user sets them.

use wastenot_model::{Help, Span, shortened, suggest_of};

use crate::ir::{Dimension, Program, Variable};

/// Why a policy cannot run with these parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file has no policy.
    #[error("the file has no policy")]
    Empty,
    /// No policy of the file has such a parameter.
    #[error("{policy} has no parameter `{name}`")]
    UnknownParameter {
        /// The policy.
        policy: String,
        /// As typed.
        name: String,
        /// What to write instead.
        help: String,
    },
    /// The value has the wrong dimension.
    #[error("{policy}: `{name}` cannot be `{value}`")]
    WrongValue {
        /// The policy.
        policy: String,
        /// The parameter.
        name: String,
        /// As typed.
        value: String,
        /// What to write instead.
        help: String,
    },
}

impl Error {
    /// The parameter that is wrong.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Error::Empty => None,
            Error::UnknownParameter { name, .. } | Error::WrongValue { name, .. } => Some(name),
        }
    }
}

impl Help for Error {
    fn help(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Error::Empty => "write a policy: `policy NAME { ... }`",
            Error::UnknownParameter { help, .. } | Error::WrongValue { help, .. } => help.as_str(),
        }
        .into()
    }
}

/// The parameters of each policy of `program`, with these changed from the defaults in the text.
/// One name sets the parameter in every policy that has it.
pub(super) fn of(program: &Program, set: &[(String, String)]) -> Result<Vec<Vec<i64>>, Error> {
    let first = program.policies.first().ok_or(Error::Empty)?;
    let mut all: Vec<Vec<i64>> =
        program.policies.iter().map(|it| it.params.iter().map(|it| it.value).collect()).collect();
    for (name, value) in set {
        let mut known = false;
        for (policy, values) in program.policies.iter().zip(&mut all) {
            let at = policy.params.iter().position(|param| param.name == *name);
            let Some(at) = at else { continue };
            known = true;
            let number = parse(&policy.params[at], value);
            values[at] = number.ok_or_else(|| wrong(&policy.name, &policy.params[at], value))?;
        }
        if !known {
            let params = program.policies.iter().flat_map(|policy| &policy.params);
            let names: Vec<&str> = params.map(|param| param.name.as_str()).collect();
            let (policy, name) = (first.name.clone(), shortened(name));
            let help = match names.is_empty() {
                true => "remove this setting: the policy has no parameters".to_owned(),
                false => suggest_of(&name, names.iter().copied(), "use one of its parameters:"),
            };
            return Err(Error::UnknownParameter { policy, name, help });
        }
    }
    Ok(all)
}

fn parse(param: &Variable, text: &str) -> Option<i64> {
    let whole = |text: &str| text.replace('_', "").parse::<i64>().ok().filter(|&it| it >= 0);
    match param.dimension {
        Dimension::Count | Dimension::Weight => whole(text),
        Dimension::Time => i64::try_from(Span::parse(text)?.0).ok(),
    }
}

fn wrong(policy: &str, param: &Variable, value: &str) -> Error {
    let like = match param.dimension {
        Dimension::Count => "a whole number, for example `4`",
        Dimension::Weight => "a weight, for example `100`",
        Dimension::Time => "a time with its unit, for example `5ms`",
    };
    let (policy, name, value) = (policy.to_owned(), param.name.clone(), shortened(value));
    let help = format!("set `{name}` to {like}");
    Error::WrongValue { policy, name, value, help }
}
