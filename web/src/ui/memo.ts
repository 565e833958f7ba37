import { Component, type ComponentChild, type ComponentType, createElement } from 'preact'

/** A component that renders again only when one of its props is another value. */
export function memo<Props extends object>(of: (props: Props) => ComponentChild): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const keys = new Set([...Object.keys(this.props), ...Object.keys(next)])
      return [...keys].some((key) => !Object.is(this.props[key as keyof Props], next[key as keyof Props]))
    }
    override render(): ComponentChild {
      return createElement(of as ComponentType<Props>, this.props as Props)
    }
  }
}
