// Shows what the work came to where the test looks for it.
export const show = (promise) =>
  promise.then(
    (text) => (document.title = text),
    (error) => (document.title = `failed: ${error.stack ?? error}`),
  )
