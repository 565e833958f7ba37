// Markdown as elements. Only the lexer of marked is used: no HTML is ever made from text.
import { Lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { CodeBlock } from './CodeBlock.tsx'
import { OutsideLink } from './OutsideLink.tsx'
import { isSafeImage } from './safe-media.ts'
import { VisibleProse } from './VisibleText.tsx'
import { visibleLine, visibleProse } from './visible-text.ts'

/** Longer text is shown as it is. */
const MOST_CHARACTERS = 200_000
const MOST_LEVELS = 40
/** Headings of a message begin below those of the page. */
const FIRST_HEADING = 3

/** Text of a model as Markdown. HTML in it is shown as text, and nothing is fetched from other hosts. */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const tokens = useMemo(() => lex(text), [text])
  if (!tokens) return <pre class="markdown plain">{visibleProse(text)}</pre>
  return <div class="markdown">{blocks(tokens, { level: 0, heading: topHeading(tokens) })}</div>
}

interface Place {
  /** How deep the token is nested. */
  readonly level: number
  /** The depth of the topmost heading of the message. */
  readonly heading: number
}

function lex(text: string): Token[] | undefined {
  if (text.length > MOST_CHARACTERS) return undefined
  try {
    return Lexer.lex(text, { gfm: true, breaks: true })
  } catch {
    return undefined // nested too deeply
  }
}

function topHeading(tokens: readonly Token[]): number {
  return Math.min(6, ...tokens.map((token) => (token.type === 'heading' ? (token as Tokens.Heading).depth : 6)))
}

function blocks(tokens: readonly Token[], place: Place): ComponentChildren {
  if (place.level > MOST_LEVELS) return <VisibleProse text={tokens.map(({ raw }) => raw).join('')} />
  const inner = { ...place, level: place.level + 1 }
  return tokens.map((token, at) => <Block key={at} token={token} place={inner} />)
}

function Block({ token, place }: { readonly token: Token; readonly place: Place }): ComponentChildren {
  const inside = (): ComponentChildren => blocks(('tokens' in token && token.tokens) || [], place)
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'paragraph':
      return <p>{inside()}</p>
    case 'heading':
      return <Heading depth={(token as Tokens.Heading).depth - place.heading}>{inside()}</Heading>
    case 'blockquote':
      return <blockquote>{inside()}</blockquote>
    case 'code':
      return <Code code={token as Tokens.Code} />
    case 'hr':
      return <hr />
    case 'list':
      return <List list={token as Tokens.List} place={place} />
    case 'table':
      return <Table table={token as Tokens.Table} place={place} />
    default:
      return <Inline token={token} place={place} />
  }
}

function Inline({ token, place }: { readonly token: Token; readonly place: Place }): ComponentChildren {
  const inside = (): ComponentChildren => blocks(('tokens' in token && token.tokens) || [], place)
  switch (token.type) {
    case 'strong':
      return <strong>{inside()}</strong>
    case 'em':
      return <em>{inside()}</em>
    case 'del':
      return <del>{inside()}</del>
    case 'codespan':
      return (
        <code>
          <VisibleProse text={(token as Tokens.Codespan).text} />
        </code>
      )
    case 'br':
      return <br />
    case 'link':
      return <Link link={token as Tokens.Link}>{inside()}</Link>
    case 'image':
      return <Image image={token as Tokens.Image} />
    case 'text':
      return 'tokens' in token && token.tokens ? inside() : <VisibleProse text={token.text} />
    case 'escape':
      return <VisibleProse text={(token as Tokens.Escape).text} />
    default:
      return <VisibleProse text={token.raw} /> // HTML, and tokens of later versions
  }
}

function Code({ code }: { readonly code: Tokens.Code }): JSX.Element {
  return <CodeBlock code={visibleProse(code.text)} language={visibleLine(code.lang ?? '')} />
}

function Heading({ depth, children }: { readonly depth: number; readonly children: ComponentChildren }): JSX.Element {
  const Name = `h${Math.min(6, FIRST_HEADING + depth)}` as 'h3'
  return <Name>{children}</Name>
}

function List({ list, place }: { readonly list: Tokens.List; readonly place: Place }): JSX.Element {
  const items = list.items.map((item, at) => (
    <li key={at} class={item.task ? 'task' : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} disabled aria-label="Task" />}
      {blocks(
        item.tokens.filter(({ type }) => type !== 'checkbox'),
        place,
      )}
    </li>
  ))
  return list.ordered ? <ol start={list.start === '' ? 1 : list.start}>{items}</ol> : <ul>{items}</ul>
}

function Table({ table, place }: { readonly table: Tokens.Table; readonly place: Place }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class="table-scroll" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.header.map((cell, at) => (
              <th key={at} scope="col" class={cell.align ?? undefined}>
                {blocks(cell.tokens, place)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column} class={cell.align ?? undefined}>
                  {blocks(cell.tokens, place)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The text of a link, then its full target unless both are the same. */
function Link({ link, children }: { readonly link: Tokens.Link; readonly children: ComponentChildren }): JSX.Element {
  return (
    <span>
      {link.text !== link.href && `mailto:${link.text}` !== link.href && <>{children} </>}
      <OutsideLink href={link.href} />
    </span>
  )
}

function Image({ image }: { readonly image: Tokens.Image }): JSX.Element {
  if (isSafeImage(image.href)) return <img class="picture" src={image.href} alt={visibleProse(image.text)} />
  return (
    <span class="outside-image">
      Image: <VisibleProse text={image.text} /> <OutsideLink href={image.href} />
    </span>
  )
}
