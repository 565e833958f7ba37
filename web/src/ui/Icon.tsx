import type { JSX } from 'preact'

const SHAPES = {
  menu: 'M4 6h16M4 12h16M4 18h16',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  chevron: 'M9 6l6 6-6 6',
  inbox: 'M4 13h4l2 3h4l2-3h4M4 13l3-8h10l3 8v6H4z',
  wrench:
    'M14.5 6a4 4 0 0 1 5-1.5L17 7v2h2l2.500-2.500A4 4 0 0 1 16 11.500L8.500 19A2.100 2.100 0 0 1 5.500 16L13 8.500A4 4 0 0 1 14.500 6z',
  chat: 'M4 5h16v11H9l-5 4z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2',
  moon: 'M20 14.500A8 8 0 1 1 9.500 4 6.500 6.500 0 0 0 20 14.500z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  chart: 'M4 20h16M6 20v-6h3v6M11 20V5h3v15M16 20v-9h3v9',
  send: 'M5 12h13M12 6l6 6-6 6',
  stop: 'M7 7h10v10H7z',
  clip: 'M8 12.500l5.500-5.500a3 3 0 0 1 4.300 4.300l-7 7a5 5 0 0 1-7-7L10 5',
  retry: 'M4 12a8 8 0 1 0 2.500-5.800M4 4v4.500h4.500',
  edit: 'M5 19l1-4L16 5l3 3L9 18z',
  trash: 'M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12',
  key: 'M14 10a4 4 0 1 0-2 3.500l1.500 1.500H16v2h2v2h3v-3l-6-6',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.500l3 1.500',
  warning: 'M12 4l9 16H3zM12 10v4M12 17v.5',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  shield: 'M12 3l7 3v6c0 4-3 7-7 9-4-2-7-5-7-9V6z',
  keyboard: 'M3 7h18v10H3zM7 11h.5M11 11h.5M15 11h.5M8 14h8',
  search: 'M10.5 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM15.500 15.500L20 20',
  filter: 'M4 6h16M7 12h10M10 18h4',
  copy: 'M9 9h11v11H9zM5 15V4h11',
  more: 'M6 12h.5M12 12h.5M18 12h.5',
  link: 'M14 5h5v5M19 5l-8 8M17 14v5H5V7h5',
  microphone: 'M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM6 11a6 6 0 0 0 12 0M12 17v4M8 21h8',
  arrowDown: 'M12 5v14M6 13l6 6 6-6',
} as const

/** The name of an icon. */
export type IconName = keyof typeof SHAPES

/** A decorative icon. The control around it carries the accessible name. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={SHAPES[name]} />
    </svg>
  )
}
