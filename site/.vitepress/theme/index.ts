// The look of the documentation site: a picture on the home page, names of files on code, and a sidebar that shows where the reader is.
import './theme.css'
import { onContentUpdated, type Theme } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { defineComponent, h, nextTick, type VNode } from 'vue'
import picture from '../../../docs/images/workbench-chat.png'

const Layout = defineComponent(() => {
  onContentUpdated(() => void nextTick(showPlace))
  return (): VNode => h(DefaultTheme.Layout, null, { 'home-hero-after': homePicture })
})

function homePicture(): VNode {
  const alt = 'The workbench: a conversation with tool calls as cards, their arguments, results, and who approved them'
  return h('img', { class: 'home-picture', src: picture, alt, width: 1280, height: 800 })
}

/** Scrolls the sidebar to the page that is shown, unless it is in view. */
function showPlace(): void {
  document.querySelector('.VPSidebar .is-active.is-link')?.scrollIntoView({ block: 'nearest' })
}

const theme: Theme = { extends: DefaultTheme, Layout }
export default theme
