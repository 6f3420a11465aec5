//! The files of the page.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use http::header::{CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH};
use http::request::Parts;
use http::{Response, StatusCode};

use crate::headers;

struct Asset {
    path: &'static str,
    content_type: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! assets {
    ($($kind:ident $path:literal $file:literal;)*) => {
        &[$(Asset { path: $path, content_type: $kind, text: include_str!(concat!("../page/", $file)) }),*]
    };
}

const ASSETS: &[Asset] = assets! {
    HTML "/" "index.html";
    SVG "/page/icon.svg" "icon.svg";
    CSS "/page/colours.css" "colours.css";
    CSS "/page/layout.css" "layout.css";
    CSS "/page/controls.css" "controls.css";
    CSS "/page/parts.css" "parts.css";
    SCRIPT "/page/activity.js" "activity.js";
    SCRIPT "/page/advisor.js" "advisor.js";
    SCRIPT "/page/app.js" "app.js";
    SCRIPT "/page/calls.js" "calls.js";
    SCRIPT "/page/chart.js" "chart.js";
    SCRIPT "/page/dom.js" "dom.js";
    SCRIPT "/page/editor.js" "editor.js";
    SCRIPT "/page/failure.js" "failure.js";
    SCRIPT "/page/heat.js" "heat.js";
    SCRIPT "/page/heat_canvas.js" "heat_canvas.js";
    SCRIPT "/page/history.js" "history.js";
    SCRIPT "/page/key_space.js" "key_space.js";
    SCRIPT "/page/login.js" "login.js";
    SCRIPT "/page/palette.js" "palette.js";
    SCRIPT "/page/plan.js" "plan.js";
    SCRIPT "/page/query.js" "query.js";
    SCRIPT "/page/result.js" "result.js";
    SCRIPT "/page/shortcuts.js" "shortcuts.js";
    SCRIPT "/page/sql_text.js" "sql_text.js";
    SCRIPT "/page/tables.js" "tables.js";
    SCRIPT "/page/tabs.js" "tabs.js";
    SCRIPT "/page/units.js" "units.js";
};

/// The file of a path. A browser asks each time whether its copy is still the same.
pub(crate) fn answer(path: &str, head: &Parts) -> Response<Bytes> {
    let Some(asset) = ASSETS.iter().find(|asset| asset.path == path) else {
        return headers::text(StatusCode::NOT_FOUND, "there is no such page\n");
    };
    let tag = tag(asset.text);
    let known = head.headers.get_all(IF_NONE_MATCH).iter();
    let is_known = known
        .filter_map(|tags| tags.to_str().ok())
        .any(|tags| tags.split(',').any(|known| known.trim().trim_start_matches("W/") == tag));
    let mut response = match is_known {
        true => headers::with_body(StatusCode::NOT_MODIFIED, asset.content_type, Bytes::new()),
        false => headers::with_body(StatusCode::OK, asset.content_type, Bytes::from_static(asset.text.as_bytes())),
    };
    let of_response = response.headers_mut();
    of_response.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        of_response.insert(ETAG, tag);
    }
    response
}

/// The entity tag of a text.
fn tag(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::{ASSETS, answer};

    fn get(path: &str, tag: Option<&str>) -> http::Response<bytes::Bytes> {
        let mut request = Request::builder().uri(path);
        if let Some(tag) = tag {
            request = request.header("if-none-match", tag);
        }
        answer(path, &request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn a_known_file_is_not_sent_again() {
        for asset in ASSETS {
            let first = get(asset.path, None);
            assert_eq!((first.status().as_u16(), first.body().is_empty()), (200, false), "{}", asset.path);
            let tag = first.headers()["etag"].to_str().unwrap();
            assert_eq!(get(asset.path, Some(&format!("\"x\", W/{tag}"))).status(), 304);
            assert_eq!(get(asset.path, Some("\"x\"")).status(), 200);
        }
        assert_eq!(get("/page/../index.html", None).status(), 404);
    }

    /// The policy would refuse what is written into the page itself, and addresses of other hosts.
    #[test]
    fn files_have_no_inline_code_and_name_no_other_host() {
        for asset in ASSETS {
            let text = asset.text.replace("http://www.w3.org/", "");
            assert!(!text.contains("http://") && !text.contains("https://"), "{}", asset.path);
            for forbidden in ["<style", " style=", "onclick=", "onload=", "innerHTML", "eval("] {
                assert!(!text.contains(forbidden), "{} has {forbidden}", asset.path);
            }
        }
    }

    /// Every module that a module imports is served.
    #[test]
    fn imported_files_are_there() {
        for asset in ASSETS {
            for (_, rest) in
                asset.text.match_indices(" from \"./").map(|(at, found)| asset.text.split_at(at + found.len()))
            {
                let name = rest.split('"').next().unwrap();
                assert!(
                    ASSETS.iter().any(|other| other.path == format!("/page/{name}")),
                    "{} imports {name}",
                    asset.path
                );
            }
        }
    }
}
