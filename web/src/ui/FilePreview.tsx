import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { InlineData as Media } from '../../../src/core/content/content.ts'
import { Button } from './Button.tsx'
import { download } from './download.ts'
import { formatBytes } from './format.ts'
import { Icon } from './Icon.tsx'
import { bytesOf, mediaKind } from './safe-media.ts'
import { visibleLine, visibleText } from './visible-text.ts'

/** Props of a preview. */
export interface FilePreviewProps {
  /** The file. */
  readonly media: Media
  /** Its name. Default: the name in `media`. */
  readonly name?: string | undefined
}

const MOST_TEXT = 100_000

/**
 * A file: pictures, sound and text are shown; HTML, SVG and XML only on demand and in a frame without scripts and without the
 * origin of the page.
 */
export function FilePreview({ media, name = media.displayName ?? 'file' }: FilePreviewProps): JSX.Element {
  const kind = mediaKind(media.mimeType)
  const bytes = useMemo(() => bytesOf(media), [media])
  const [isOpen, setOpen] = useState(false)
  const title = visibleLine(name)
  const isDemanded = kind === 'document' || kind === 'text'
  return (
    <figure class="file">
      <Shown {...{ kind, bytes, title, mimeType: media.mimeType, isOpen }} />
      <figcaption>
        <Icon name="file" />
        <span class="file-name">{title}</span>
        <span class="muted">
          {visibleLine(media.mimeType)}, {formatBytes(bytes.length)}
        </span>
        {isDemanded && (
          <Button kind="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Hide' : 'Preview'}
          </Button>
        )}
        <Button kind="plain" onClick={() => download(bytes, name)}>
          Download
        </Button>
      </figcaption>
    </figure>
  )
}

interface ShownProps {
  readonly kind: ReturnType<typeof mediaKind>
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly title: string
  readonly mimeType: string
  readonly isOpen: boolean
}

function Shown({ kind, bytes, title, mimeType, isOpen }: ShownProps): JSX.Element | null {
  const needsUrl = kind === 'picture' || kind === 'audio' || kind === 'video' || (kind === 'document' && isOpen)
  const url = useObjectUrl(needsUrl ? bytes : undefined, mimeType)
  if (kind === 'text' && isOpen) {
    const text = new TextDecoder().decode(bytes.subarray(0, MOST_TEXT))
    return <pre class="file-text">{visibleText(text)}</pre>
  }
  if (url === undefined) return null
  switch (kind) {
    case 'picture':
      return <img class="picture" src={url} alt={title} />
    case 'audio':
      // biome-ignore lint/a11y/useMediaCaption: a recording has no captions
      return <audio controls src={url} aria-label={title} />
    case 'video':
      // biome-ignore lint/a11y/useMediaCaption: a recording has no captions
      return <video controls src={url} aria-label={title} />
    default:
      return <iframe class="file-frame" sandbox="" src={url} title={`Preview of ${title}`} />
  }
}

/** The address of bytes while the component is shown. */
function useObjectUrl(bytes: Uint8Array<ArrayBuffer> | undefined, mimeType: string): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!bytes) {
      setUrl(undefined)
      return
    }
    const created = URL.createObjectURL(new Blob([bytes], { type: mimeType }))
    setUrl(created)
    return () => URL.revokeObjectURL(created)
  }, [bytes, mimeType])
  return url
}
