import { options, render } from 'preact'
import { App } from './App.tsx'
import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/controls.css'
import './styles/tree.css'
import './styles/markdown.css'
import './styles/chat.css'
import './styles/requests.css'

// A stream brings many events at once. They are shown together: without this, each would be a rendering of its own.
options.debounceRendering = (flush) => void setTimeout(flush)

const root = document.getElementById('root')
if (root) render(<App />, root)
