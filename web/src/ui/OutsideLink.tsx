import type { JSX } from 'preact'
import { Icon } from './Icon.tsx'
import { visibleLine } from './visible-text.ts'

const ALLOWED: ReadonlySet<string> = new Set(['https:', 'http:', 'mailto:'])

/** Props of a link to another site. */
export interface OutsideLinkProps {
  /** The address, as a model or a tool wrote it. */
  readonly href: string
  /** Opens the address in a window of its own, of this size, instead of a tab. */
  readonly onOpen?: ((href: string) => void) | undefined
}

/**
 * The full address of another site. It is a button, not an anchor: browsers look up the host of an anchor before it is
 * clicked. An address that is not of the web is text.
 */
export function OutsideLink({ href, onOpen = openOutside }: OutsideLinkProps): JSX.Element {
  const url = URL.canParse(href) ? new URL(href) : undefined
  if (!url || !ALLOWED.has(url.protocol)) return <span class="outside-text">{visibleLine(href)}</span>
  return (
    <button type="button" class="outside-link" onClick={() => onOpen(url.href)}>
      {visibleLine(url.href)}
      <Icon name="link" />
    </button>
  )
}

function openOutside(href: string): void {
  window.open(href, '_blank', 'noopener,noreferrer')
}
