import Markdown, { RuleType } from 'markdown-to-jsx/react';
import { memo, useState } from 'react';
import { IconButton } from './icons.jsx';

/** Text of the model. It shows no HTML of the model, and loads no picture of another server: both could send data away. */
export const Prose = memo(function Prose({ text, isWritten = true }) {
  return <Markdown options={isWritten ? OPTIONS : WRITING}>{text}</Markdown>;
});

const OPTIONS = {
  disableParsingRawHTML: true,
  forceBlock: true,
  forceWrapper: true,
  wrapper: 'div',
  wrapperProps: { className: 'prose' },
  overrides: { a: Link, img: Picture, table: Table, ...headings() },
  renderRule: (next, node, ...[, { key }]) =>
    node.type === RuleType.codeBlock ? <Code key={key} language={node.lang} text={node.text} /> : next(),
};
/** Hides the marks of a part that is not complete, such as half a link. */
const WRITING = { ...OPTIONS, optimizeForStreaming: true };

/** The title of the page is above those of a message. Without ids, since two messages may have the same title. */
function headings() {
  const tags = { h1: 'h2', h2: 'h2', h3: 'h3', h4: 'h4', h5: 'h5', h6: 'h6' };
  const heading = ([from, Tag]) => [from, ({ children }) => <Tag>{children}</Tag>];
  return Object.fromEntries(Object.entries(tags).map(heading));
}

/** A link without an address had one that runs a script. */
function Link({ href, children }) {
  if (!href) return children;
  return (
    <a href={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

function Picture({ src, alt }) {
  return <Link href={src}>{alt || src}</Link>;
}

function Table({ children }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table.
    <section className="table" tabIndex={0} aria-label="Table">
      <table>{children}</table>
    </section>
  );
}

function Code({ language, text }) {
  return (
    <figure className="code">
      <figcaption>
        {language || 'text'} <Copy text={text} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls wide code. */}
      <pre tabIndex={0}>
        <code>{coloured(text)}</code>
      </pre>
    </figure>
  );
}

const TOKEN =
  /(?<comment>\/\/.*|#\s.*|\/\*[\s\S]*?\*\/)|(?<string>(["'`])(?:\\.|(?!\3)[^\\\n])*\3)|(?<number>\b\d[\d_.]*\b)|(?<word>\b(?:async|await|break|case|class|const|def|else|export|false|fn|for|from|func|function|if|import|in|interface|let|match|new|None|not|null|of|pub|return|struct|switch|throw|true|True|try|type|undefined|use|var|while|with|yield)\b)/g;

/** Colours comments, strings, numbers and key words, which most languages have in common. */
function coloured(text) {
  const parts = [];
  let end = 0;
  for (const { 0: found, index, groups } of text.matchAll(TOKEN)) {
    const [kind] = Object.entries(groups).find(([, value]) => value !== undefined);
    parts.push(text.slice(end, index), <i key={index} className={kind}>{found}</i>); // biome-ignore format: one token.
    end = index + found.length;
  }
  return [...parts, text.slice(end)];
}

/** Copies a text, and says so for two seconds. */
export function Copy({ text, label }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return <IconButton name={isCopied ? 'check' : 'copy'} label={isCopied ? 'Copied' : label} onClick={copy} />;
}
