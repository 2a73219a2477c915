import { $, announce, h } from "./dom.js";
import { LIMITS } from "./limits.js";
import { live, runPath } from "./live.js";
import { Refused, api, noticed, request } from "./server.js";

$("cancel").addEventListener("click", () => $("cancel-dialog").showModal());
$("cancel-no").addEventListener("click", () => $("cancel-dialog").close());
$("cancel-yes").addEventListener("click", async () => {
  $("cancel-dialog").close();
  try {
    await api(runPath("/cancel"), { method: "POST", body: {} });
    announce("The run is being cancelled");
  } catch (error) {
    noticed(error);
  }
});
// The report is shown in a frame without this page's origin: whatever is in it, it can read neither the token nor this page. It is not a
// link, since a link cannot send the token, and not a page of its own from a `blob:` address, since that would have this page's origin.
$("report").addEventListener("click", async () => {
  const { id } = live;
  $("report").setAttribute("aria-busy", "true");
  try {
    const response = await request(runPath("/report.html"), { accept: "text/html", wait: 60_000 });
    const page = await response.text();
    if (id !== live.id) return;
    if (page.length > LIMITS.report) throw new Refused(413, { error: { message: "the report is too large to be shown here" } });
    $("report-frame").replaceChildren(h("iframe", { sandbox: "allow-scripts", title: "The report of the run", srcdoc: page }));
    $("report-dialog").showModal();
  } catch (error) {
    noticed(error);
  } finally {
    $("report").removeAttribute("aria-busy");
  }
});
$("report-close").addEventListener("click", () => $("report-dialog").close());
$("report-dialog").addEventListener("close", () => $("report-frame").replaceChildren());
