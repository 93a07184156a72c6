import { chromium } from 'playwright-core'

/**
 * Starts Debian's Chromium with a profile of its own, which is gone afterwards. It speaks to
 * nobody but the pages that it is told to open. `more` are further flags.
 */
export function launchChromium(more = []) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  })
}
