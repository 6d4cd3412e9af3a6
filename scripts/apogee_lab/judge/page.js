/* SPDX-License-Identifier: GPL-2.0 */
"use strict";

const card = JSON.parse(document.getElementById("card").textContent);
const signs = { "met": "circle", "not met": "x", "not shown": "diamond-open" };

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/* A dotted line at the number of a bound, such as ">= 0.9". */
function line(bound, dash) {
	const at = Number(bound.split(" ")[1]);

	return { type: "line", xref: "paper", x0: 0, x1: 1, y0: at, y1: at,
		 line: { color: colour("--soft"), width: 1, dash } };
}

function label(bound, word) {
	return { xref: "paper", x: 1, y: Number(bound.split(" ")[1]), text: word + " " + bound,
		 showarrow: false, xanchor: "right", yanchor: word === "met" ? "bottom" : "top",
		 font: { size: 11, color: colour("--soft") } };
}

function trace(cases, name, own) {
	const known = cases.filter((one) => one.value !== null);
	const there = (one, key) => (one[key] === null ? 0 : Math.abs(one[key] - one.value));

	return {
		type: "scatter", mode: "markers", name,
		x: known.map((one) => one.case || name), y: known.map((one) => one.value),
		text: known.map((one) => name + ": " + one.verdict),
		hovertemplate: "%{text}<br>%{x}<br>%{y:.4g}<extra></extra>",
		marker: { size: own ? 11 : 6, opacity: own ? 1 : .55,
			  symbol: known.map((one) => own ? signs[one.verdict] || "circle" : "circle"),
			  color: own ? colour("--link") : colour("--soft") },
		error_y: { type: "data", symmetric: false, visible: own,
			   array: known.map((one) => there(one, "high")),
			   arrayminus: known.map((one) => there(one, "low")), thickness: 1.5 },
	};
}

function draw(place) {
	const test = card[place.dataset.test];
	const names = Object.keys(test.cells).filter((name) => name !== place.dataset.cc);
	const many = test.cells[place.dataset.cc].length > 4;
	const rows = [...names.map((name) => trace(test.cells[name], name, false)),
		      trace(test.cells[place.dataset.cc], place.dataset.cc, true)];
	const axis = { color: colour("--text"), gridcolor: colour("--line"), automargin: true };
	const title = (test.ratio ? "ratio of: " : "") + test.measure + (test.unit ? ", " + test.unit : "");

	for (const row of rows)
		row.x = row.x.map((name) => test.cells[place.dataset.cc].length > 1 ? name : " ");
	Plotly.react(place, rows, {
		title: { text: title, x: 0, xanchor: "left", xref: "paper", y: 1, yref: "container",
			 yanchor: "top", pad: { t: 34 }, font: { size: 13 } },
		margin: { t: 60, r: 10, b: 40, l: 40 }, showlegend: false,
		modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--link") },
		paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
		font: { color: colour("--text") },
		hoverlabel: { bgcolor: colour("--back"), bordercolor: colour("--soft"),
			      font: { color: colour("--text") } },
		/* On a phone many names leave no room; the table below has them. */
		xaxis: { ...axis, type: "category", showticklabels: !many || place.clientWidth > 500 },
		yaxis: { ...axis, rangemode: "tozero" },
		shapes: [line(test.met, "dot"), line(test.unmet, "dash")],
		annotations: [label(test.met, "met"), label(test.unmet, "not met")],
	}, { displaylogo: false, responsive: true });
}

function drawIn(details) {
	for (const place of details.querySelectorAll(".plot"))
		draw(place);
}

function drawn() {
	return document.querySelectorAll(".plot.js-plotly-plot");
}

/* A cell's figures unfold below its row, and go back to their section. */
function unfold(cell, event) {
	const details = document.getElementById(cell.hash.slice(1));
	const row = cell.closest("tr");
	const wanted = cell.getAttribute("aria-expanded") !== "true";

	event.preventDefault();
	for (const panel of document.querySelectorAll("tr.panel")) {
		const back = panel.querySelector("details");

		document.querySelector("a.cell[aria-expanded=true]").setAttribute("aria-expanded", "false");
		back.open = false;
		document.getElementById("was-" + back.id).replaceWith(back);
		panel.remove();
	}
	if (!wanted)
		return;
	const mark = document.createElement("span");
	const panel = document.createElement("tr");
	const inside = document.createElement("td");

	mark.id = "was-" + details.id;
	details.replaceWith(mark);
	inside.colSpan = row.children.length;
	inside.append(details);
	panel.className = "panel";
	panel.append(inside);
	row.after(panel);
	details.open = true;
	cell.setAttribute("aria-expanded", "true");
	details.querySelector("summary").focus({ preventScroll: true });
}

for (const details of document.querySelectorAll("section > details"))
	details.addEventListener("toggle", () => details.open && drawIn(details));
for (const cell of document.querySelectorAll("a.cell"))
	cell.addEventListener("click", (event) => unfold(cell, event));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn().forEach(draw));
addEventListener("beforeprint", () => {
	for (const details of document.querySelectorAll("section > details")) {
		details.open = true;
		drawIn(details);
	}
});
