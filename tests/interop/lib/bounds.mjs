// Every wait has a bound, which is far more than ever needed, also on a slow and busy machine. BATON_TIME_SCALE
// stretches the bounds for slow builds.
export const patience = 60; // seconds
const scale = Number(process.env.BATON_TIME_SCALE ?? "1");

export const scaled = (seconds) => seconds * scale * 1000;

const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function within(seconds, what, promise) {
  let timer;
  const bound = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${seconds} s in vain for ${what}`)), scaled(seconds));
  });
  try {
    return await Promise.race([promise, bound]);
  } finally {
    clearTimeout(timer);
  }
}

// Calls `ask` until it returns something, and returns that.
export async function waitFor(what, ask, seconds = patience) {
  const deadline = Date.now() + scaled(seconds);
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s in vain for ${what}`);
    await later(20);
  }
}
