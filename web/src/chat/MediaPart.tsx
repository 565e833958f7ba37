import type { JSX } from 'preact'
import type { Part } from '../../../src/core/content/content.ts'
import { FilePreview } from '../ui/FilePreview.tsx'
import { Icon } from '../ui/Icon.tsx'
import { OutsideLink } from '../ui/OutsideLink.tsx'
import { visibleLine } from '../ui/visible-text.ts'

/** A file in a message. A reference to another host is shown, not loaded. */
export function MediaPart({ part }: { readonly part: Part }): JSX.Element | null {
  if (part.inlineData) return <FilePreview media={part.inlineData} />
  if (!part.fileData) return null
  return (
    <p class="file-reference">
      <Icon name="file" /> {part.fileData.displayName && visibleLine(part.fileData.displayName)}
      <OutsideLink href={part.fileData.fileUri} />
    </p>
  )
}
