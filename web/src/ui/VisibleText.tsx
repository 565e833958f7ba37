import type { ComponentChildren, JSX } from 'preact'
import { prosePieces, type VisiblePiece, visiblePieces } from './visible-text.ts'

/** Text of a model, tool or user. Characters that cannot be seen are shown by name. */
export function VisibleText({ text }: { readonly text: string }): JSX.Element {
  return <bdi>{marked(visiblePieces(text))}</bdi>
}

/** Prose of a model. Characters that mislead are shown by name; those that belong to emoji and to other scripts stay. */
export function VisibleProse({ text }: { readonly text: string }): JSX.Element {
  return <>{marked(prosePieces(text))}</>
}

function marked(pieces: readonly VisiblePiece[]): ComponentChildren {
  return pieces.map((piece, at) =>
    piece.isMark ? (
      <mark key={at} class="hidden-character">
        {piece.text}
      </mark>
    ) : (
      piece.text
    ),
  )
}
