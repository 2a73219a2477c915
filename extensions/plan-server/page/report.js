import { $, announce, copy, fileName, h, hide, save } from "./dom.js";
import { LIMITS } from "./limits.js";
import { live, runPath } from "./live.js";
import { Refused, api, noticed, request } from "./server.js";
import { who } from "./who.js";

$("cancel").addEventListener("click", () => {
  const asks = live.run?.approve === "each";
  for (const id of ["cancel-asks", "cancel-time"]) hide($(id), !asks);
  $("cancel-dialog").showModal();
});
$("cancel-no").addEventListener("click", () => $("cancel-dialog").close());
$("cancel-yes").addEventListener("click", async () => {
  $("cancel-dialog").close();
  const by = await who();
  if (by === null) return;
  try {
    await api(runPath("/cancel"), { method: "POST", body: { by, reason: $("cancel-why").value.trim() } });
    $("cancel-why").value = "";
    announce("The run is being cancelled");
  } catch (error) {
    // The page of a missing run says so itself.
    if (error.status !== 404) noticed(error);
  }
});
// The report is shown in a frame without this page's origin: whatever is in it, it can read neither the token nor this page. It is not a
// link, since a link cannot send the token, and not a page of its own from a `blob:` address, since that would have this page's origin.
const busy = async (button, work) => {
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    noticed(error);
  } finally {
    button.removeAttribute("aria-busy");
  }
};
const load = async (path, accept) => (await request(runPath(path), { accept, wait: 60_000 })).text();
// The report has an address, so that somebody can send it to another person who has the token.
export const showReport = () => busy($("report"), async () => {
  if ($("report-dialog").open) return;
  const wait = h("p", { class: "hint", role: "status" }, "The report loads…");
  $("report-frame").replaceChildren(wait);
  $("report-frame").setAttribute("aria-busy", "true");
  $("report-dialog").showModal();
  try {
    const page = await load("/report.html", "text/html");
    // Somebody has closed the report.
    if (!wait.isConnected) return;
    if (page.length > LIMITS.report) throw new Refused(413, { error: { message: "the report is too large to be shown here" } });
    $("report-frame").replaceChildren(h("iframe", { sandbox: "allow-scripts allow-modals", title: "The report of the run", srcdoc: page }));
    $("report-frame").removeAttribute("aria-busy");
  } catch (error) {
    if (!wait.isConnected) return;
    $("report-dialog").close();
    throw error;
  }
});
const address = (rest) => `#/runs/${encodeURIComponent(live.id)}${rest}`;
$("report").addEventListener("click", () => (location.hash === address("/report") ? showReport() : (location.hash = address("/report"))));
const print = () => $("report-frame").querySelector("iframe")?.contentWindow.postMessage("print", "*");
$("report-print").addEventListener("click", print);
$("report-dialog").addEventListener("keydown", (event) => {
  if (event.key !== "p" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  print();
});
$("report-close").addEventListener("click", () => $("report-dialog").close());
addEventListener("message", ({ source, data }) => data === "close" && source && source === $("report-frame").querySelector("iframe")?.contentWindow && $("report-dialog").close());
$("report-dialog").addEventListener("close", () => {
  $("report-frame").replaceChildren();
  $("report-frame").removeAttribute("aria-busy");
  if (live.id && location.hash === address("/report")) location.hash = address("");
});
// The name of a file about the run, with the name of its plan and its id.
export const fileOf = (ending, kind = "") => `${kind}${fileName(live.run?.name ?? live.run?.plan ?? "run", live.id)}.${ending}`;
// The texts are saved as the server sends them, with all digits of each number.
$("report-save").addEventListener("click", () => busy($("report-save"), async () => save(fileOf("html"), await load("/report.html?alone=true", "text/html"), "text/html")));
$("report-copy").addEventListener("click", () => busy($("report-copy"), async () => copy($("report-copy"), await load("/report.md"), fileOf("md"))));
$("run-save").addEventListener("click", () => busy($("run-save"), async () => save(fileOf("json"), await load(""))));
