import type { ButtonHTMLAttributes, ComponentChildren, JSX } from 'preact'
import { Icon, type IconName } from './Icon.tsx'

/** Props of a button. */
export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'label'> {
  /** How prominent the button is. Default: a bordered button. */
  readonly kind?: 'primary' | 'danger' | 'plain' | undefined
  /** An icon before the text. */
  readonly icon?: IconName | undefined
  /** The name of a button that shows only an icon. */
  readonly label?: string | undefined
  /** The text. */
  readonly children?: ComponentChildren
}

/** A button. */
export function Button({ kind, icon, label, children, class: more, ...props }: ButtonProps): JSX.Element {
  const classes = ['button', kind, children === undefined ? 'icon-only' : undefined, more].filter(Boolean).join(' ')
  return (
    <button type="button" {...props} class={classes} aria-label={label ?? props['aria-label']} title={label}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  )
}
