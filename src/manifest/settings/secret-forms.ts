/** Shorter values would be found everywhere; they are withheld by the names of their settings alone. */
export const MIN_LENGTH = 4;
/** A line of a key in several lines is a secret, too. */
const MIN_LINE = 16;
/** Pieces of a long secret are found one by one: comparing the whole of it at each place would take long. */
const MAX_PIECE = 64;

/** The strings that give a secret away: as it is, and as JSON, a URL, HTML, Base64 and Base64URL write it. */
export function secretForms(value: string): readonly string[] {
  const secret = value.trim();
  if (secret.length < MIN_LENGTH) return [];
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const texts = [secret, ...lines.filter((line) => line.length >= MIN_LINE)];
  const forms = texts.flatMap((text) => [text, ...jsonForms(text), ...urlForms(text), ...htmlForms(text)]);
  return [...new Set([...forms, ...base64Forms(secret)])].flatMap(pieces);
}

/** Some programs escape slashes, or all that is not ASCII. */
function jsonForms(text: string): readonly string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const escaped = (isUpper: boolean) =>
    json.replace(/[^ -~]/g, (unit) => {
      const code = unit.charCodeAt(0).toString(16).padStart(4, '0');
      return `\\u${isUpper ? code.toUpperCase() : code}`;
    });
  return [json, escaped(false), escaped(true)].flatMap((form) => [form, form.replaceAll('/', '\\/')]);
}

function urlForms(text: string): readonly string[] {
  const wellFormed = new TextDecoder().decode(new TextEncoder().encode(text));
  const form = new URLSearchParams({ a: text }).toString().slice(2);
  const forms = [encodeURIComponent(wellFormed), encodeURI(wellFormed), form];
  return [...forms, ...forms.map((one) => one.replace(/%../g, (code) => code.toLowerCase()))];
}

const ENTITIES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Quotes are escaped in attributes, and stay outside of them. */
function htmlForms(text: string): readonly string[] {
  const escaped = text.replaceAll('&', '&amp;');
  return [/[<>"']/g, /[<>]/g].map((special) => escaped.replace(special, (char) => ENTITIES[char] ?? char));
}

/** At each of the three places that it may have among other bytes, without the characters that it shares with those. */
function base64Forms(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const whole = bytes.toString('base64');
  const cores = [0, 1, 2].map((shift) => {
    const shared = shift === 0 ? 0 : shift + 1;
    const padded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    return padded.slice(shared, Math.floor(((shift + bytes.length) * 8) / 6));
  });
  const forms = [whole, ...cores.filter((core, shift) => shift === 0 || core.length >= 6)];
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
}

/** Pieces of much the same length: a short one would be found everywhere. */
function pieces(form: string): readonly string[] {
  const count = Math.ceil(form.length / MAX_PIECE);
  const cut = (index: number) => Math.floor((index * form.length) / count);
  return Array.from({ length: count }, (_, index) => form.slice(cut(index), cut(index + 1)));
}
