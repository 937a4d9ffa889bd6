/** Lets the page draw and hear the user while thousands of events come in at once. */

/** Work in one go, in milliseconds: two frames of a screen. */
const WORK_MS = 30;

/** A function to call after each piece of work: it gives a promise to wait for when it is time for the page. */
export function createBreather(): () => Promise<void> | undefined {
  // A message is not slowed down in a hidden tab, as a timer is.
  const { port1, port2 } = new MessageChannel();
  let since = performance.now();
  return () => {
    if (performance.now() - since < WORK_MS) return undefined;
    return new Promise((resolve) => {
      port1.onmessage = () => {
        since = performance.now();
        resolve();
      };
      port2.postMessage(undefined);
    });
  };
}
