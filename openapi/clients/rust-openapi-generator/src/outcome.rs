//! What an answer has to be, or the scenario ends.
use openapi::apis::Error;
use openapi::models::{ErrorEnvelope, ErrorObject};

pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

pub fn ok(step: &str) {
    println!("ok {step}");
}

pub fn check(holds: bool, what: &str) -> Outcome<()> {
    if holds {
        Ok(())
    } else {
        Err(format!("not so: {what}").into())
    }
}

pub trait Step<T> {
    /// The answer of a request that has to succeed.
    fn step(self, what: &str) -> Outcome<T>;
    /// What a refusal tells. The client keeps no headers of an answer.
    fn refused(self, status: u16, code: &str) -> Outcome<ErrorObject>;
}

impl<T: std::fmt::Debug, E: std::fmt::Debug> Step<T> for Result<T, Error<E>> {
    fn step(self, what: &str) -> Outcome<T> {
        self.map_err(|error| format!("{what}: {error:?}").into())
    }

    fn refused(self, status: u16, code: &str) -> Outcome<ErrorObject> {
        match self {
            Err(Error::ResponseError(answer)) if answer.status == status => {
                let ErrorEnvelope { error } = serde_json::from_str(&answer.content)?;
                check(error.code == code, &format!("{} is {code}", error.code))?;
                Ok(*error)
            }
            other => Err(format!("instead of {status} {code}: {other:?}").into()),
        }
    }
}
