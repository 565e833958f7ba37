// The page that a provider sends the browser back to. It hands its own address to the workbench, which compares `state`.
import { CONSENT_CHANNEL } from './requests/consent-channel.ts'

const channel = new BroadcastChannel(CONSENT_CHANNEL)
channel.postMessage(location.href)
channel.close()
history.replaceState(null, '', location.pathname)
window.close()
