import type { JSX } from 'preact'
import { type Route, writeRoute } from './state/route.ts'
import { visibleLine, visibleText } from './ui/visible-text.ts'

/** Props of the page. */
export interface FailureProps {
  /** What is wrong. */
  readonly title: string
  /** Why, and what to do. */
  readonly text: string
  /** Ways on. */
  readonly links: readonly { readonly label: string; readonly to: Route }[]
}

/** A page that cannot be shown, with ways back. */
export function Failure({ title, text, links }: FailureProps): JSX.Element {
  return (
    <div class="view failure">
      <h1>{title}</h1>
      <p class="muted">{visibleText(text)}</p>
      <p class="links">
        {links.map(({ label, to }) => (
          <a key={label} class="button" href={writeRoute(to)}>
            {visibleLine(label)}
          </a>
        ))}
      </p>
    </div>
  )
}
