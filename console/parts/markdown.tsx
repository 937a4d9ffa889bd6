/**
 * Markdown → elements. The text is only split into tokens by `marked`; every element is made here, from a list, and no HTML
 * is ever parsed: markup in the text shows as text. Links lead only to http, https and mail; pictures are not loaded.
 */
import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { useMemo } from "preact/hooks";

/** A text as Markdown. */
export function Markdown({ text }: { text: string }): VNode {
  const blocks = useMemo(() => new Lexer({ gfm: true, breaks: true }).lex(text), [text]);
  return <div class="markdown">{drawAll(blocks)}</div>;
}

function drawAll(tokens: readonly Token[] = []): ComponentChildren {
  return tokens.map((token) => draw(token as MarkedToken));
}

function draw(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case "paragraph":
      return <p>{drawAll(token.tokens)}</p>;
    case "heading":
      return <h3 class={`level-${token.depth}`}>{drawAll(token.tokens)}</h3>;
    case "code":
      return <pre tabIndex={0}><code>{token.text}</code></pre>;
    case "blockquote":
      return <blockquote>{drawAll(token.tokens)}</blockquote>;
    case "list":
      return drawList(token);
    case "table":
      return drawTable(token);
    case "hr":
      return <hr />;
    case "strong":
      return <strong>{drawAll(token.tokens)}</strong>;
    case "em":
      return <em>{drawAll(token.tokens)}</em>;
    case "del":
      return <del>{drawAll(token.tokens)}</del>;
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <br />;
    case "link":
      return drawLink(token.href, drawAll(token.tokens));
    case "image":
      return drawLink(token.href, `🖼 ${token.text || token.href}`);
    case "text":
      return token.tokens ? drawAll(token.tokens) : token.text;
    case "escape":
      return token.text;
    case "space":
    case "def":
    case "checkbox":
      return undefined;
    default:
      // HTML, and what a later version of the lexer may know: as it was written.
      return token.raw;
  }
}

function drawList({ ordered, start, items }: Tokens.List): VNode {
  const drawn = items.map((item, at) => (
    <li key={at}>
      {item.task ? (item.checked ? "☑ " : "☐ ") : undefined}
      {drawAll(item.tokens)}
    </li>
  ));
  return ordered ? <ol start={start === "" ? 1 : start}>{drawn}</ol> : <ul>{drawn}</ul>;
}

function drawTable({ header, rows }: Tokens.Table): VNode {
  return (
    <div class="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>{header.map(({ tokens }, at) => <th key={at} scope="col">{drawAll(tokens)}</th>)}</tr>
        </thead>
        <tbody>
          {rows.map((row, at) => <tr key={at}>{row.map(({ tokens }, at) => <td key={at}>{drawAll(tokens)}</td>)}</tr>)}
        </tbody>
      </table>
    </div>
  );
}

const SAFE = /^(https?|mailto):/i;

function drawLink(href: string, children: ComponentChildren): ComponentChildren {
  if (!SAFE.test(href)) return children;
  return <a href={href} target="_blank" rel="noreferrer noopener">{children}</a>;
}
