import { createHash } from 'node:crypto';
import { pageSource } from './page-source.js';

/** An HTML page, and the content security policy that its server sends. */
export interface Page {
  readonly html: string;
  readonly policy: string;
}

/**
 * Returns the trace page as one HTML file. `data` is the text of a trace to include. Without it, the page asks its
 * server for traces.
 */
export async function pageOf(data?: string): Promise<Page> {
  const { script, style } = await pageSource();
  const own = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    ...(data === undefined ? ["connect-src 'self'"] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ];
  const policy = own.join('; ');
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Trace of a run</title>
<style>${style}</style>
</head>
<body>
${data === undefined ? '' : `<script type="application/json" id="trace">${dataText(data)}</script>\n`}<script>${script}</script>
</body>
</html>
`;
  return { html, policy: `${policy}; frame-ancestors 'none'` };
}

/** Escapes characters that could end the `script` element or a line. In JSON, they occur only inside strings. */
function dataText(lines: string): string {
  return lines.replaceAll('<', '\\u003c').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
