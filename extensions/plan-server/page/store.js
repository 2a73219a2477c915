// The text of a plan is kept for this tab, and the token is kept for all tabs of this browser.
const storeOf = (key) => (key === "token" ? localStorage : sessionStorage);
export const keep = (key, value) => {
  try {
    if (value === null) storeOf(key).removeItem(key);
    else storeOf(key).setItem(key, value);
  } catch {
    // Without a store, the page forgets when it is reloaded.
  }
};
export const kept = (key) => {
  try {
    return storeOf(key).getItem(key);
  } catch {
    return null;
  }
};

// ---- What this tab knows of the runs that it has started: their plans. ----

export const remember = (id, plan) => {
  const all = JSON.parse(kept("plans") ?? "[]");
  all.unshift([id, plan]);
  const some = all.slice(0, 10);
  while (some.length && JSON.stringify(some).length > 2_000_000) some.pop();
  keep("plans", JSON.stringify(some));
};
export const remembered = (id) => {
  try {
    return JSON.parse(kept("plans") ?? "[]").find(([known]) => known === id)?.[1] ?? null;
  } catch {
    return null;
  }
};
