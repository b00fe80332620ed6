const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Returns the strings that reveal a secret: the secret itself, and its forms in JSON, URLs, HTML, Base64 and Base64URL.
 */
export function secretForms(secret: string): readonly string[] {
  const url = encodeURIComponent(new TextDecoder().decode(new TextEncoder().encode(secret)));
  const form = new URLSearchParams({ secret }).toString().slice('secret='.length);
  const html = secret.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
  const bytes = Buffer.from(secret);
  // Without padding, the form matches Base64 with and without padding.
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  return [secret, ...jsonForms(secret), url, form, html, base64, bytes.toString('base64url')];
}

/** Some programs also escape slashes or all non-ASCII characters. */
function jsonForms(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const ascii = json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const capitals = ascii.replace(/\\u..../g, (code) => `\\u${code.slice(2).toUpperCase()}`);
  return [json, ascii, capitals].flatMap((text) => [text, text.replaceAll('/', '\\/')]);
}
