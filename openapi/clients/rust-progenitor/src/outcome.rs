//! What an answer has to be, or the scenario ends.
use crate::api::types::{ErrorEnvelope, ErrorObject};
use progenitor_client::{Error, ResponseValue};
use reqwest::header::HeaderMap;

pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
pub type Answer<T> = Result<ResponseValue<T>, Error<ErrorEnvelope>>;

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
    fn step(self, what: &str) -> Outcome<ResponseValue<T>>;
    /// What a refusal tells, with its headers.
    fn refused(self, status: u16, code: &str) -> Outcome<(ErrorObject, HeaderMap)>;
}

impl<T> Step<T> for Answer<T> {
    fn step(self, what: &str) -> Outcome<ResponseValue<T>> {
        self.map_err(|error| format!("{what}: {error:?}").into())
    }

    fn refused(self, status: u16, code: &str) -> Outcome<(ErrorObject, HeaderMap)> {
        match self {
            Err(Error::ErrorResponse(answer)) if answer.status() == status => {
                let headers = answer.headers().clone();
                let error = answer.into_inner().error;
                check(
                    error.code.to_string() == code,
                    &format!("{} is {code}", error.code),
                )?;
                Ok((error, headers))
            }
            Err(other) => Err(format!("instead of {status} {code}: {other:?}").into()),
            Ok(answer) => Err(format!("instead of {code}: {}", answer.status()).into()),
        }
    }
}
