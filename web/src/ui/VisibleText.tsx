import type { JSX } from 'preact'
import { visiblePieces } from './visible-text.ts'

/** Text of a model, tool or user. Characters that cannot be seen are shown by name. */
export function VisibleText({ text }: { readonly text: string }): JSX.Element {
  return (
    <bdi>
      {visiblePieces(text).map((piece, at) =>
        piece.isMark ? (
          <mark key={at} class="hidden-character">
            {piece.text}
          </mark>
        ) : (
          piece.text
        ),
      )}
    </bdi>
  )
}
