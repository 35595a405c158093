const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}

export const PRODUCT = 'Incident Triage Service';

/** Colours of all pages. Text and background always have a contrast of at least 4.5 to 1. */
export const COLOURS = `
  :root { --ink: #16232d; --quiet: #4d5d69; --paper: #f3f6f8; --card: #fff; --line: #cdd6dd; --brand: #184e68; --on-brand: #fff; --bad: #9b1c1c; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e6ecf0; --quiet: #a9b7c1; --paper: #0f171d; --card: #18232b; --line: #33434f; --brand: #8cc4e0; --on-brand: #0b1a22; --bad: #ff9a94; }
  }
`;

export const SIGN =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">' +
  '<path fill="#2b7a9e" stroke="#fff" stroke-width="1.5" d="M16 2 4.5 6.2v9.3c0 7 4.7 12 11.5 14.5 6.8-2.5 11.5-7.5 11.5-14.5V6.2z"/>' +
  '<path fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" d="m10.5 16 4 4 7.5-8.5"/></svg>';
