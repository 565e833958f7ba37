/** The channel on which the callback page sends its address to the workbench. Only pages of this origin can use it. */
export const CONSENT_CHANNEL = 'toolwright-consent'
